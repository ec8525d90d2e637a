#!/usr/bin/env python3
"""Writes the corpus beside this file from the golden vectors, and a few inputs of its own. Same bytes every time.

usage: tests/fuzz/make_corpus.py
"""
import gzip
import json
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent
VECTORS = HERE.parent / "vectors"


def put(target, name, data):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def text(s):
    data = s.encode()
    return bytes([0xA0 | len(data)]) + data


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


main()
