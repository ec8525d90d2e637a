"""What a Dynamo deployment registers, in August's form: model cards and event channels, with their keys."""

COMPONENT = "backend"


def card(worker: int, batched_tokens: int = 8192) -> dict:
    """A decode worker's model card as its process registers it (August's form)."""
    return {"type": "Model", "namespace": "dynamo", "component": COMPONENT, "endpoint": "generate", "instance_id": worker,
            "card_json": {"display_name": "model", "kv_cache_block_size": 16, "worker_type": "decode",
                          "runtime_config": {"total_kv_blocks": 62500, "max_num_seqs": 256, "context_length": 32768,
                                             "max_num_batched_tokens": batched_tokens}}}


def card_key(worker: int) -> str:
    return f"v1/mdc/dynamo/{COMPONENT}/generate/{worker:x}"


def channel(publisher: int, url: str) -> dict:
    return {"type": "EventChannel", "topic": "forward-pass-metrics", "instance_id": publisher,
            "scope": {"kind": "endpoint", "endpoint": {"namespace": "dynamo", "component": COMPONENT, "name": "generate"}},
            "transport": {"kind": "Zmq", "config": {"endpoint": url}}}


def channel_key(publisher: int) -> str:
    return f"v1/event_channels/namespace/dynamo/component/{COMPONENT}/endpoint/generate/topic/forward-pass-metrics/{publisher:x}"


def file_name(key: str) -> str:
    """Of a key in the file store: the bucket is the folder, the rest is escaped."""
    return "".join(c if c.isalnum() else f"%{ord(c):02X}" for c in key.split("/", 2)[2])
