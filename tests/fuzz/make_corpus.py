#!/usr/bin/env python3
"""Writes the corpus beside this file from the golden vectors, and a few inputs of its own. Same bytes every time.

usage: tests/fuzz/make_corpus.py
"""
import gzip
import json
import pathlib
import struct
import zlib

HERE = pathlib.Path(__file__).resolve().parent
VECTORS = HERE.parent / "vectors"


def put(target, name, data):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def text(s):
    data = s.encode()
    return bytes([0xA0 | len(data)]) + data


def varint(n):
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def header(config, segment=0):
    """A journal's header, proto/journal.md."""
    body = struct.pack("<Qq", segment, 1776800000123) + varint(5) + b"0.1.0" + config
    sized = struct.pack("<I", len(body)) + body
    return b"\x8aDPJ\r\n\x1a\n" + struct.pack("<HI", 1, zlib.crc32(sized)) + sized


def journal_record(kind, body):
    sized = bytes([kind]) + varint(len(body)) + body
    return b"\xd7\x4a" + struct.pack("<I", zlib.crc32(sized)) + sized


def seconds(t):
    return struct.pack("<d", t)


def put_journals():
    start = header(b'{"mode":"decode"}') + journal_record(1, seconds(0.25) + varint(4) + b"PLAN" + b"COORD")
    engine = journal_record(2, varint(0) + b"\x01" + varint(0) + b"7")
    report = journal_record(3, seconds(0.4) + varint(0) + b"\x16" + varint(300) + seconds(0.012)
                            + b"".join(varint(n) for n in (0, 0, 0, 17, 70211)) + seconds(1843.25))
    everything = journal_record(3, seconds(0.5) + varint(0) + b"\xff" + varint(2 ** 63 - 1) + varint(2) + seconds(1.5)
                                + b"".join(varint(n) for n in (1, 2, 3, 4, 5)) + seconds(0.1) + seconds(-0.0)
                                + b"".join(varint(n) for n in (6, 7, 8, 9)) + seconds(5e-324) + seconds(1e308))
    tick = journal_record(4, b'{"t":5,"event":"tick"}')
    effect = journal_record(5, b'{"t":5,"effect":"wake_at","at":10}')
    note = journal_record(6, seconds(6.0) + b"\x01" + varint(12)) + journal_record(6, seconds(7.0) + b"\x02" + varint(0) + b"seen")
    whole = start + engine + report + everything + tick + effect + note
    put("journal", "whole", whole)
    put("journal", "header_alone", header(b""))
    put("journal", "torn_tail", whole[:-3])
    put("journal", "damaged_in_the_middle", start + engine[:-1] + b"8" + report + tick)
    put("journal", "damaged_beyond_search", start + b"\xd7\x4a\x00\x00\x00\x00\x04\x30" * 40)
    put("journal", "unnamed_engine", start + report)
    put("journal", "engine_out_of_turn", start + engine + engine)
    put("journal", "unknown_kind", start + journal_record(9, b"later"))
    put("journal", "time_that_is_none", start + engine
        + journal_record(3, seconds(float("nan")) + varint(0) + b"\x00" + varint(1)) + tick)
    put("journal", "note_at_no_time", start + journal_record(6, seconds(float("inf")) + b"\x02" + varint(0)))
    put("journal", "checkpoint_at_no_time", header(b"{}") + journal_record(1, seconds(float("-inf")) + varint(0)))
    put("journal", "report_as_a_line", start + journal_record(4, b'{"t":5,"event":"fpm","role":"decode","fpm":{"worker_id":"7"}}'))
    put("journal", "version_of_a_later_day", header(b"{}")[:8] + b"\x02\x00" + header(b"{}")[10:])
    put("journal", "claims_a_long_body", start + b"\xd7\x4a" + bytes(4) + b"\x04" + b"\xff" * 9 + b"\x01")


def put_step_lines():
    for name, line in {
        "tick": '{"t":5,"event":"tick"}',
        "fpm": '{"t":0.1,"event":"fpm","role":"decode","fpm":{"worker_id":"7","wall_time":0.012,"scheduled_requests":'
               '{"num_decode_requests":17,"sum_decode_kv_tokens":70211,"var_decode_kv_tokens":1843.25}}}',
        "fpm_refused": '{"t":0.1,"event":"fpm","role":"agg","fpm":{"worker_id":"7","wall_time":-1}}',
        "engine_joined": '{"t":-0.0,"event":"engine_joined","role":"prefill","worker_id":"\\u00e4\\ud83d\\ude00","dp_rank":3,'
                         '"capabilities":{"num_gpu":2,"max_num_batched_tokens":8192,"max_num_seqs":null,'
                         '"context_length":32768,"max_kv_tokens":9223372036854775807}}',
        "engine_left": '{"t":1e-7,"event":"engine_left","role":"decode","worker_id":"7","dp_rank":0}',
        "inventory": '{"t":1,"event":"inventory","role":"decode","ready":1,"expected":null,"rolling":true}',
        "traffic": '{"t":180,"event":"traffic","window_s":180,"num_req":540.5,"isl":1500,"osl":200,"ttft_ms":210,'
                   '"itl_ms":18.1,"kv_hit_rate":0.25}',
        "traffic_idle": '{"t":180,"event":"traffic","window_s":60,"idle":true}',
        "traffic_zero": '{"t":180,"event":"traffic","num_req":0}',
        "outcome": '{"t":9,"event":"outcome","decision_id":7,"outcome":"timed_out"}',
        "published": '{"t":9,"event":"published","proposal":0,"decision_id":41}',
        "refused": '{"t":9,"event":"refused","proposal":0,"reason":"conflict"}',
        "decision_restored": '{"t":0,"event":"decision_restored","decision_id":7,"prefill":null,"decode":2,'
                             '"state":"published","age_s":12.75}',
        "config": '{"t":0,"event":"config","set":{"ttft":400,"itl":5.0,"policy":{"trigger":"tick","a":{"b":null}},'
                  '"enable_load_scaling":false}}',
        "config_twice": '{"t":0,"event":"config","set":{"a":{"b":1},"a.b":2}}',
        "bus": '{"t":0,"event":"bus","connected":false}',
        "leader": ' {"event":"leader","t":1e300,"leading":true}\r\n',
        "unknown_event": '{"t":0,"event":"tock"}',
        "unknown_key": '{"t":0,"event":"tick","tick":1}',
        "repeated_key": '{"t":0,"t":1,"event":"tick"}',
        "effect": '{"t":5,"effect":"done"}',
        "number_beyond_64_bits": '{"t":0,"event":"published","proposal":18446744073709551615,"decision_id":1e19}',
        "why": '{"why":"it holds"}',
        "nested_without_end": '{"t":' + "[" * 2000,
    }.items():
        put("step_line", name, line.encode())
    put("step_line", "bad_utf8", b'{"t":0,"event":"engine_left","role":"decode","worker_id":"\xff"}')
    put("step_line", "long_section", b'{"t":0,"event":"config","set":{"' + b"s" * 3000 + b'":{"a":1,"b":2}}}')


def put_configs():
    for name, document in {
        "plain.yaml": "mode: disagg\nttft: 500  # ms\nitl: 40\nmax_gpu_budget: 16\npolicy:\n  trigger: tick\n"
                      "capabilities:\n  decode: {max_kv_tokens: 400000}\n",
        "dynamo.yaml": "preset: dynamo\nload_predictor: constant\nthroughput_adjustment_interval: 180\n"
                       "metric_pulling_prometheus_endpoint: http://localhost:9090\n",
        "lists.yaml": "bus:\n  transport: zmq\n  endpoints:\n    - tcp://127.0.0.1:5557\n"
                      "    - {url: 'ipc:///tmp/x', role: decode}\netcd: {endpoints: [http://127.0.0.1:2379]}\n",
        "plain.json": '{"mode": "agg", "ttft": 500.0, "policy": {"trigger": "tick"},\n "min_endpoint": 2}',
        "odd_words.yaml": "enable_load_scaling: yes\nttft: '1e3'\nitl: !!float 40\nlog_dir: ~\nhttp: {listen: off}\n"
                          "journal:\n",
        "wrong_values.yaml": "mode: both\nttft: -1\nitl: [1]\nttfd: 500\nttft: 600\npolicy: 3\nload_predictor: prophet\n",
        "later_fields.yaml": "enable_power_awareness: true\nprophet_window_size: 7\nscheduling: {external_plugins: [a]}\n",
        "aliases.yaml": "a: &a [1, 2]\nb: &b [*a, *a]\nc: {d: *b, e: &e {f: *b}}\n",
        "alias_in_itself.yaml": "a: &a [*a]\n",
        "alias_of_nothing.yaml": "a: *b\n",
        "two_documents.yaml": "ttft: 1\n---\nttft: 2\n",
        "tags.yaml": "a: !!python/object:os.system x\n",
        "block_text.yaml": "a: |\n  one\n  two\nb: >-\n  three\n\n  four\n? five\n: six\n",
        "escapes.yaml": 'a: "\\x41\\u00e4\\U0001F600\\t\\\n  b"\n',
        "bad_escape.yaml": 'ttft: "\\q"\n',
        "tab.yaml": "a:\n\t- b\n",
        "list_of_nothing.yaml": "- \n- - \n  - ~\n",
        "cut.json": '{"ttft": 500, "mode": "dis',
        "numbers.json": '[-0, -0.0, 1e-400, 18446744073709551615, 9223372036854775808, -9223372036854775808, 1E5]',
        "number_too_large.json": '{"ttft":\n1e400}',
        "repeated_keys.json": '{"ttft": 1, "ttft": 2, "policy": {}, "policy": {"trigger": "tick"}}',
        "text_without_end.json": '{"ttft": "' + "x" * 3000,
        "deep.json": "[" * 40 + "]" * 40,
        "deep.yaml": "".join(" " * n + "a:\n" for n in range(40)),
        "deep_by_aliases.yaml": "a: &a " + "[" * 20 + "]" * 20 + "\nb: &b " + "[" * 20 + "*a" + "]" * 20 + "\n",
        "text_by_aliases.yaml": "a: &a " + "x" * 3000 + "\nb: [" + "*a, " * 900 + "]\n",
    }.items():
        put("config", name, document.encode())
    put("config", "bad_utf8.yaml", b"log_dir: \xff\xfe\n\x80: 1\n")
    put("config", "utf16.yaml", "ttft: 500\n".encode("utf-16"))
    put("config", "zero_byte.yaml", b"ttft: 5\x000\n")
    put("config", "control.json", b'{"a\x1b[31m": 1, "ttft": "\x7f\\u0007"}')


def envelope(sequence=b"\x05", topic=b"forward-pass-metrics", payload=b"\xc4\x06report"):
    """An event's envelope as publishers write it, proto/event-plane.md."""
    return (b"\x85" + text("publisher_id") + b"\xcf" + struct.pack(">Q", 2 ** 53 + 1) + text("sequence") + sequence
            + text("published_at") + b"\xcf" + struct.pack(">Q", 1776800000123) + text("topic")
            + bytes([0xA0 | len(topic)]) + topic + text("payload") + payload)


def put_envelopes():
    whole = envelope()
    put("envelope", "whole", whole)
    put("envelope", "bytes_after_it", whole + b"\xc1")
    put("envelope", "array", b"\x95\x07\x05\x09\xa1t\xc4\x01p")
    put("envelope", "array_of_six", b"\x96\x07\x05\x09\xa1t\xc4\x01p\xc0")
    put("envelope", "array_of_four", b"\x94\x07\x05\x09\xa1t")
    put("envelope", "other_order", b"\x86" + text("x") + b"\x92\xc0\x81\xa1y\xc3" + text("payload") + b"\xa1p" + text("topic")
        + b"\xa1t" + text("published_at") + b"\x09" + text("sequence") + b"\xd0\x05" + text("publisher_id") + b"\xcc\x07")
    put("envelope", "negative_sequence", envelope(sequence=b"\xff"))
    put("envelope", "sequence_as_float", envelope(sequence=b"\xcb" + struct.pack(">d", 5)))
    put("envelope", "sequence_twice", b"\x82" + 2 * (text("sequence") + b"\x05"))
    put("envelope", "topic_of_bad_utf8", envelope(topic=b"a\xffb"))
    put("envelope", "topic_beyond_ascii", envelope(topic="w\u00e4hler\u20ac".encode()))
    put("envelope", "payload_as_list", envelope(payload=b"\x91\x01"))
    put("envelope", "payload_bin16", envelope(payload=b"\xc5\x01\x00" + b"p" * 256))
    put("envelope", "payload_claims_four_gibibytes", envelope(payload=b"\xc6\xff\xff\xff\xff"))
    put("envelope", "claims_four_thousand_million_pairs", b"\xdf\xff\xff\xff\xff" + whole[1:])
    put("envelope", "nested_200_deep", b"\x86" + text("x") + b"\x91" * 200 + b"\xc0" + whole[1:])
    put("envelope", "text_alone", text("envelope"))
    put("envelope", "key_that_is_none", b"\x81\x05\x05")
    put("envelope", "json", b'{"publisher_id":18446744073709551615,"sequence":5,"published_at":9,"topic":"t","payload":[0,255]}')
    put("envelope", "json_twice", b'{"topic":"t","topic":"t"}')


def frames(*parts):
    return b"".join(struct.pack(">H", len(part)) + part for part in parts)


def put_frames():
    def framed(content, version=1, announced=None):
        return bytes([version]) + struct.pack(">I", len(content) if announced is None else announced) + content

    key, publisher, sequence = b"forward-pass-metrics", struct.pack(">Q", 2 ** 53 + 1), struct.pack(">Q", 5)
    put("event_frames", "event", frames(key, publisher, sequence, framed(envelope())))
    put("event_frames", "event_of_a_broker", frames(b"namespace.n.component.c.endpoint.e.forward-pass-metrics", publisher,
                                                    sequence, framed(envelope())))
    put("event_frames", "event_of_another_topic", frames(b"forward-pass-metrics-2", publisher, sequence,
                                                         framed(envelope(topic=b"forward-pass-metrics-2"))))
    put("event_frames", "other_sequence", frames(key, publisher, publisher, framed(envelope())))
    put("event_frames", "short_publisher", frames(key, publisher[4:], sequence, framed(envelope())))
    put("event_frames", "long_sequence", frames(key, publisher, sequence + b"\x00", framed(envelope())))
    put("event_frames", "short_header", frames(key, publisher, sequence, b"\x01\x00\x00\x00"))
    put("event_frames", "version_2", frames(key, publisher, sequence, framed(envelope(), version=2)))
    put("event_frames", "length_0", frames(key, publisher, sequence, framed(envelope(), announced=0)))
    put("event_frames", "length_too_big", frames(key, publisher, sequence, framed(envelope(), announced=2 ** 32 - 1)))
    put("event_frames", "spare_bytes", frames(key, publisher, sequence, framed(envelope()) + b"spare"))
    put("event_frames", "five_frames", frames(key, publisher, sequence, framed(envelope()), b""))
    put("event_frames", "engine_hop", frames(b"", sequence, b"report"))
    put("event_frames", "engine_hop_of_odd_sequence", frames(b"topic", b"5", b""))


def put_discovery():
    card = ('{"display_name":"m","kv_cache_block_size":16,"context_length":4096,"model_type":"Chat | Prefill","lora":null,'
            '"runtime_config":{"total_kv_blocks":24064,"max_num_seqs":256,"max_num_batched_tokens":8192,"context_length":8192,'
            '"data_parallel_start_rank":2,"data_parallel_size":4,"runtime_data":{"spec_decode":{"nextn":2}}}}')
    model = ('{"type":"Model","namespace":"n","component":"c","endpoint":"e","instance_id":9007199254740993,"card_json":%s,'
             '"model_suffix":%s}')
    zmq = '"transport":{"kind":"Zmq","config":{"endpoint":"tcp://10.0.0.7:5"}}'
    for name, (key, value) in {
        "card": ("v1/mdc/n/c/e/20000000000001", model % (card, "null")),
        "card_of_an_adapter": ("v1/mdc/n/c/e/20000000000001/lora", model % ('{"lora":{},"worker_type":"decode"}', '"lora"')),
        "card_of_wild_claims": ("v1/mdc/n/c/e/1", model % ('{"model_type":{"bits":18446744073709551615},"kv_cache_block_size":'
                                '9223372036854775807,"runtime_config":{"total_kv_blocks":9223372036854775807,'
                                '"data_parallel_start_rank":9223372036854775807,"data_parallel_size":0}}', '""')),
        "instance": ("v1/instances/n/c/e/FF", '{"type":"Endpoint","namespace":"n","component":"c","endpoint":"e",'
                     '"instance_id":255,"transport":{"tcp":"10.0.0.7:1/ff/e"}}'),
        "channel_april": ("v1/event_channels/n//forward-pass-metrics/2a", '{"type":"EventChannel","namespace":"n",'
                          '"component":"","topic":"forward-pass-metrics","instance_id":42,%s}' % zmq),
        "channel_august": ("v1/event_channels/namespace/a%2Eb/component/c/endpoint/e%25/topic/forward-pass-metrics/2a",
                           '{"type":"EventChannel","scope":{"kind":"endpoint","endpoint":{"namespace":"a.b","component":"c",'
                           '"name":"e%%"}},"topic":"forward-pass-metrics","instance_id":42,%s}' % zmq),
        "channel_of_a_broker": ("v1/event_channels/namespace/n/component/zmq_broker/topic/t/1f", '{"type":"EventChannel",'
                                '"scope":{"kind":"component","namespace":"n","component":"zmq_broker"},"topic":"t",'
                                '"instance_id":31,"transport":{"kind":"ZmqBroker","config":{"xsub_endpoints":["tcp://b:1"],'
                                '"xpub_endpoints":["tcp://b:2","tcp://c:2"]}}}'),
        "source": ("v1/event_sources/namespace/n/topic/t/1", '{"type":"EventSource"}'),
        "file_name": ("dynamo%2Fbackend%2Fgenerate%2F2a", "{"),
        "broken_escape": ("v1/event_channels/namespace/%zz/topic/t/1", "[]"),
        "broker_url": (" xsub=tcp://a:1 ; tcp://b:1,xpub=tcp://a:2;", ""),
        "endpoint_name": ("dynamo.backend.generate", ""),
        "kubernetes_worker": ("pod-0", '{"metadata":{"name":"pod-0"},"spec":{"data":{"model_cards":{"k":%s},"endpoints":null,'
                              '"event_channels":[]}}}' % (model % (card, "null"))),
        "kubernetes_records": ("k", '{"model_cards":{"k":%s,"l":7}}' % (model % (card, "null"))),
        "kubernetes_text": ("k", json.dumps('{"endpoints":{}}')),
        "graph_of_services": ("g", '{"metadata":{"name":"g","annotations":{"nvidia.com/current-worker-hash":"h"}},"spec":{"services"'
                              ':{"main":{"subComponentType":"decode","extraPodSpec":{"mainContainer":{"args":["--model \'m\'"]}}}}},'
                              '"status":{"services":{"main":{"componentKind":"Deployment","componentNames":["g-0"]}}}}'),
        "graph_of_components": ("g", '{"metadata":{"name":"g"},"spec":{"components":[{"name":"main","type":"worker","podTemplate":'
                                '{"spec":{"containers":[{"name":"main","args":"--endpoint dyn://n.c.e"}]}}}]}}'),
        "nested_without_end": ("k", '{"type":"Model","x":' + "[" * 2000),
    }.items():
        put("discovery", name, (key + "\n" + value).encode())
    put("discovery", "zero_bytes", b'v1/mdc/n\x00/c/e/1\n{"type":"Model","instance_id":7}\x00{')
    put("discovery", "bad_utf8", b'v1/mdc/\xff/c/e/1\n{"type":"Model","instance_id":7,"component":"\xff"}')


def main():
    lines = {}
    for vector in json.loads((VECTORS / "event-plane/fpm_payload.json").read_text())["vectors"]:
        put("fpm", vector["name"], bytes.fromhex(vector["hex"]))
        fields = vector["expect"].get("fields")
        if fields:
            lines[vector["name"]] = json.dumps(fields, separators=(",", ":"))
    for vector in json.loads((VECTORS / "event-plane/fpm_trace.json").read_text())["vectors"]:
        if "hex" in vector:
            put("trace", vector["name"], bytes.fromhex(vector["hex"]))
    key = text("worker_id") + text("7") + text("dp_rank")
    put("fpm", "claims_four_thousand_million_pairs", b"\xdf\xff\xff\xff\xff" + key + b"\x00")
    put("fpm", "claims_a_long_text", b"\x81" + text("worker_id") + b"\xdb\xff\xff\xff\xff")
    put("fpm", "nested_200_deep", b"\x83" + text("x") + b"\x91" * 200 + b"\xc0" + key + b"\x00")
    put("fpm", "rank_beyond_int64_then_again", b"\x83" + key + b"\xcf" + b"\xff" * 8 + text("dp_rank") + b"\x01")
    put("fpm", "block_twice", b"\x82" + 2 * (text("queued_requests") + b"\x81" + text("sum_prefill_tokens")
                                             + b"\xcf" + struct.pack(">Q", 2 ** 63)))
    for name in ("fpm_full_active", "fpm_empty_map", "fpm_wall_time_nan", "fpm_u64_max_sum", "fpm_negative_count"):
        put("fpm_json", name, lines[name].encode())
    put("fpm_json", "repeated_keys",
        b'{"worker_id":"7","dp_rank":1,"dp_rank":2,"queued_requests":{"x":1},"queued_requests":{}}')
    put("fpm_json", "whole_float", b'{"worker_id":"7","dp_rank":1.0}')
    put("fpm_json", "extremes",
        b'{"worker_id":"7","wall_time":1.7976931348623157e308,"scheduled_requests":{"var_prefill_length":5e-324}}')
    put("fpm_json", "escapes", b'{"worker_id":"\\u00e4\\ud83d\\ude00\\\\\\"\\n","\\u0000":[[[]]]}')
    record = (b'{"timestamp":1,"event":{"schema":"dynamo.fpm.trace.v1","capture_mode":"full","observed_at_unix_ms":%d,'
              b'"fpm":{"worker_id":"7","dp_rank":0}}}\n')
    plain = b"".join(record % n for n in range(3))
    put("trace", "plain", plain)
    put("trace", "plain_with_others", plain + b'{"t":1,"event":"tick"}\n\n \r\n{"bad\n' + plain[:-30])
    member = gzip.compress(plain, mtime=0)
    put("trace", "garbage_between_members", member + b"\x00garbage\x1f\x8b" + member)
    put("trace", "damaged_member", member + member[:40] + b"\xff\xff" + member[42:] + member)
    put("trace", "bomb", gzip.compress(b"\n" * 500000, mtime=0) + member)
    put_step_lines()
    put_journals()
    put_configs()
    put_envelopes()
    put_frames()
    put_discovery()


main()
