"""proto/decisions-api.yaml as a judge of answers."""

import json
import os
import pathlib
import re
import sys

# A machine may have a Python of its own beside the system's, which has the packaged modules.
SYSTEM_PYTHON = "/usr/bin/python3"
try:
    import jsonschema
    import yaml
except ImportError as missing:
    if os.path.exists(SYSTEM_PYTHON) and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM_PYTHON):
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])
    print(f"{missing}: ./tools/setup installs it")
    sys.exit(1 if os.environ.get("CI") == "true" else 77)


def plain(schema: object) -> object:
    """A schema of OpenAPI 3.0 as JSON Schema, which knows no `nullable`."""
    if isinstance(schema, list):
        return [plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    rest = {key: plain(value) for key, value in schema.items() if key != "nullable"}
    return {"anyOf": [rest, {"type": "null"}]} if schema.get("nullable") is True else rest


class ApiDocument:
    def __init__(self, path: pathlib.Path):
        self.document = yaml.safe_load(path.read_text())
        self.plain = plain(self.document)
        self.seen: set[tuple[str, str, str]] = set()  # (method, path, status) of answers that passed

    def operations(self) -> set[tuple[str, str]]:
        return {(method.upper(), path) for path, item in self.document["paths"].items() for method in item if method != "parameters"}

    def documented(self) -> set[tuple[str, str, str]]:
        return {(method, path, status) for method, path in self.operations()
                for status in self.document["paths"][path][method.lower()]["responses"] if status != "default"}

    def path_of(self, target: str) -> str:
        """The documented path of a request's target; a literal one before one with a parameter."""
        bare = target.partition("?")[0]
        for path in sorted(self.document["paths"], key=lambda p: "{" in p):
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), bare):
                return path
        raise AssertionError(f"{bare} is not in the document")

    def resolved(self, item: dict) -> dict:
        if "$ref" not in item:
            return item
        found = self.plain
        for name in item["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        return found

    def validate(self, schema: dict, value: object) -> None:
        whole = {"components": self.plain["components"], **schema}
        jsonschema.Draft202012Validator(whole, format_checker=jsonschema.FormatChecker()).validate(value)

    def judge(self, method: str, target: str, status: int, headers, text: str) -> None:
        """Raises when the answer is not one that the document allows."""
        path = self.path_of(target)
        responses = self.plain["paths"][path][method.lower()]["responses"]
        response = self.resolved(responses.get(str(status), responses["default"]))
        for name, header in response.get("headers", {}).items():
            if header.get("required") and name not in headers:
                raise AssertionError(f"{method} {target}: {status} without {name}")
            self.validate(header["schema"], headers[name])
        content = response.get("content")
        if content is None:
            if text:
                raise AssertionError(f"{method} {target}: {status} with a body: {text}")
        else:
            kind = headers.get_content_type()
            if kind not in content:
                raise AssertionError(f"{method} {target}: {status} is {kind}, not one of {list(content)}")
            self.validate(content[kind]["schema"], json.loads(text) if kind == "application/json" else text)
        self.seen.add((method, path, str(status)))
