"""A client in another language: Python, with code generated from the same contract.

It starts a kernel of its own on a Unix socket, lists the tools, reads a file, is denied a sibling, streams a call, stores
and fetches content, and stops an upload by its deadline. Whatever is not as it says ends it with exit code 1.
"""
import argparse
import contextlib
import json
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "generated"))
sys.dont_write_bytecode = True

import grpc  # noqa: E402
from handrail.tool.v1 import kernel_pb2, kernel_pb2_grpc, tool_pb2  # noqa: E402

START_SECONDS_MAX = 60
CALL_SECONDS_MAX = 30
SHORT_SECONDS = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    launcher = HERE.parent.parent / "handrail"
    parser.add_argument("--handrail", default=shlex.quote(str(launcher)), help="command that runs handrail")
    handrail = shlex.split(parser.parse_args().handrail)
    with tempfile.TemporaryDirectory(prefix="handrail-python-") as base:
        workspace = pathlib.Path(base, "workspace")
        workspace.mkdir()
        (workspace / "notes.md").write_text("# Notes\n", encoding="utf-8")
        pathlib.Path(base, "sibling.txt").write_text("not for this session\n", encoding="utf-8")
        with serving(handrail, pathlib.Path(base, "state")) as address:
            made = json.loads(run(handrail, base, "sessions", "create", "--json", "--workspace", str(workspace)))["data"]
            with grpc.insecure_channel(address) as channel:
                show(kernel_pb2_grpc.ToolKernelStub(channel), made["token"])


def show(kernel: kernel_pb2_grpc.ToolKernelStub, token: str) -> None:
    bearer = [("authorization", f"Bearer {token}")]

    def ask(number: int, **tool) -> tool_pb2.ToolRequest:
        return tool_pb2.ToolRequest(request_id=f"python-{number}", session_token=token, **tool)

    names = [tool.name for tool in kernel.ListTools(kernel_pb2.ListToolsRequest(), metadata=bearer, timeout=CALL_SECONDS_MAX).tools]
    check("read_file" in names and names == sorted(names), f"the tools are listed by name: {names}")
    print("tools:", ", ".join(names))

    read = kernel.Execute(ask(1, file_read=tool_pb2.FileRead(path="notes.md")), timeout=CALL_SECONDS_MAX)
    check(read.request_id == "python-1" and read.success.inline_result == b"# Notes\n", f"notes.md is read: {read}")
    print("read notes.md:", read.success.inline_result)

    denied = kernel.Execute(ask(2, file_read=tool_pb2.FileRead(path="../sibling.txt")), timeout=CALL_SECONDS_MAX)
    check(denied.WhichOneof("result") == "denied" and denied.denied.rule_id == "INV-0007", f"the sibling is denied: {denied}")
    print("read ../sibling.txt: denied by", denied.denied.rule_id)

    call = tool_pb2.GenericCall(name="list_files", arguments_json=b'{"path":"."}')
    events = list(kernel.ExecuteStream(ask(3, call=call), timeout=CALL_SECONDS_MAX))
    check(events[-1].response.WhichOneof("result") == "success", f"the last event is the response: {events}")
    check(all(event.WhichOneof("event") != "response" for event in events[:-1]), "there is one response")
    listed = json.loads(events[-1].response.success.inline_result)["data"]["entries"]
    print("streamed list_files:", [entry["path"] for entry in listed])

    content = bytes(range(256)) * 10_000
    stored = kernel.PutContent(upload(content), metadata=bearer, timeout=CALL_SECONDS_MAX)
    check(stored.response.WhichOneof("result") == "success" and stored.size == len(content), f"content is stored: {stored}")
    wanted = kernel_pb2.GetContentRequest(content_hash=stored.content_hash)
    parts = list(kernel.GetContent(wanted, metadata=bearer, timeout=CALL_SECONDS_MAX))
    check(parts[0].size == len(content) and b"".join(part.chunk for part in parts[1:]) == content, "content comes back as it went")
    print("stored and fetched:", stored.size, "bytes as", stored.content_hash.hex())

    over = threading.Event()
    try:
        kernel.PutContent(unfinished(content, over), metadata=bearer, timeout=SHORT_SECONDS)
        check(False, "an upload that does not end is stopped")
    except grpc.RpcError as error:
        check(error.code() == grpc.StatusCode.DEADLINE_EXCEEDED, f"its deadline stops an upload: {error}")
        print("unfinished upload:", error.code().name)
    finally:
        over.set()

    try:
        kernel.ListTools(kernel_pb2.ListToolsRequest(), metadata=[("authorization", "Bearer wrong")], timeout=CALL_SECONDS_MAX)
        check(False, "a wrong token is refused")
    except grpc.RpcError as error:
        check(error.code() == grpc.StatusCode.UNAUTHENTICATED, f"a wrong token is refused: {error}")
        print("wrong token:", error.code().name)


def upload(content: bytes):
    """The parts of an upload: what is announced, then pieces."""
    yield kernel_pb2.PutContentRequest(header=kernel_pb2.ContentHeader(size=len(content)))
    for start in range(0, len(content), 500_000):
        yield kernel_pb2.PutContentRequest(chunk=content[start : start + 500_000])


def unfinished(content: bytes, over: threading.Event):
    """The beginning of an upload whose rest never comes."""
    yield kernel_pb2.PutContentRequest(header=kernel_pb2.ContentHeader(size=len(content)))
    yield kernel_pb2.PutContentRequest(chunk=content[:1000])
    over.wait(CALL_SECONDS_MAX)


@contextlib.contextmanager
def serving(handrail: list, state: pathlib.Path):
    """Serves a kernel on a Unix socket until the block ends; gives the address."""
    child = subprocess.Popen([*handrail, "serve", "--state", str(state), "--http-socket"], stderr=subprocess.PIPE, text=True)
    try:
        for line in child.stderr:
            if "listening on" in line:
                break
        else:
            raise SystemExit("the kernel did not start")
        yield f"unix:{state}/handrail-http.sock"
    finally:
        child.send_signal(signal.SIGTERM)
        try:
            child.communicate(timeout=START_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def run(handrail: list, base: str, *words: str) -> str:
    """The output of a command."""
    command = [*handrail, *words, "--state", f"{base}/state"]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=START_SECONDS_MAX).stdout


def check(right: bool, what: str) -> None:
    """Ends the program when something is not as it says."""
    if not right:
        raise SystemExit(f"not so: {what}")


if __name__ == "__main__":
    main()
