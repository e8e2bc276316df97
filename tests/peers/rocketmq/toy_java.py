"""What tests have in the place of Java: takes a command line, listens, and writes records.

A controller elects the broker with the lowest id of those whose process listens; a broker takes its
own number for its id. Of controllers the last one that listens leads. The client acknowledges every
send but those of the id or the topic "lost". A name server knows the master when it is asked again.

A broker without controllers writes what scenarios wait for: a master that it has heard of a slave's
connection, and has the message b0; a slave that it has one.
"""

from __future__ import annotations

import json
import os
import re
import socket
import socketserver
import sys
import time
from pathlib import Path
from typing import Any

from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.controller_request_codec import pull_request
from rocketha.formats.controller_requests import GetMetadataInfo
from rocketha.formats.controller_responses import MetadataInfo, ReplicaInfo, Reply, push_reply
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.recording.record import STARTED, NodeRecord, push_line
from rocketha.types import BrokerId, Epoch, SyncStateSetEpoch

__all__ = ["main"]


def main() -> None:
    words = sys.argv[1:]
    agent = next((word for word in words if word.startswith("-javaagent:")), None)
    if agent is not None:
        file = Path(words[-1])  # of a client it is an address
        is_legacy = file.is_file() and "enableControllerMode=false" in file.read_text()
        options = dict(pair.split("=", 1) for pair in agent.partition("=")[2].split(","))
        _write_start(options, is_legacy=is_legacy)
    name = words[words.index("-cp") + 2]
    if name.endswith("ClientDriver"):
        _drive()
    elif name.endswith("MQAdminStartup"):
        print("admin:", *words[words.index(name) + 1 :])
        sys.exit(3 if words[-1] == "fail" else 0)
    else:
        _serve(name, Path(words[-1]))


def _legacy_state(node: str, *, is_legacy: bool) -> dict[str, Any]:
    if not is_legacy:
        return {}
    if node == "b1":
        ends = [[2, {"slave_ack": 0, "next_offset": None}]]
        log = {"kept": 0, "added": [{"end": 9, "id": "b0"}]}
        return {"ends": ends, "flushed_offset": 0, "log": log}
    return {"client": {"id": 2, "reported": 0}, "flushed_offset": 0}


def _write_start(options: dict[str, str], *, is_legacy: bool) -> None:
    record = NodeRecord(
        node=options["node"],
        incarnation=int(options["incarnation"]),
        sequence=0,
        at_ns=time.monotonic_ns(),
        shows_ms=0,
        event=STARTED,
        state={
            "names": Path(options["names"]).read_text().count("\n"),
            "kind": options.get("kind"),
            **_legacy_state(options["node"], is_legacy=is_legacy),
        },
    )
    records = next(value for name, value in options.items() if name.endswith("records"))
    with open(records, "ab") as file:
        file.write(push_line(record))
        file.write(b'{"torn')


def _drive() -> None:
    print(json.dumps({"number": 0, "op": "start"}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        answer = {"number": asked["number"], "op": asked["op"], "begin_ns": 5, "end_ns": 6}
        if asked["op"] == "read":
            answer["ids"] = ["a", "b"]
        elif asked["op"] == "checks":
            answer |= {"events": [{"id": "h0"}], "code": 11, "broker": "h"}
        elif asked["op"] == "consume":
            answer["error"] = "" if asked["instance"] == "k1" else "who is that?"
            answer = {name: value for name, value in answer.items() if value != ""}
        elif "lost" in (asked["id"], asked["topic"]):
            answer["error"] = "no broker"
        elif asked["id"] == "exit":
            sys.exit(1)
        elif asked["id"] == "silent":
            continue
        else:
            answer |= {"status": "SEND_OK", "message_id": "7F000001000053F400000000000000FF"}
        print(json.dumps(answer), flush=True)


def _serve(name: str, file: Path) -> None:
    said = dict(line.split("=", 1) for line in file.read_text().splitlines())
    if name.endswith("ControllerStartup"):
        own = int(said["controllerDLegerSelfId"][1:])
        peers = re.findall(r":(\d+)", said["controllerDLegerPeers"])
        _Controller.ports = [int(port) for port in peers]
        _Controller.home = file.parents[1]
        _Server(("127.0.0.1", int(peers[own])), _Controller).serve_forever()
    if name.endswith("BrokerStartup"):
        store = Path(said["storePathRootDir"])
        store.mkdir(exist_ok=True)
        Path(said["storePathBrokerIdentity"]).write_text("c#g#1")
        (file.parent / "pid").write_text(str(os.getpid()))
    if name.endswith("NamesrvStartup"):
        _Server(("127.0.0.1", int(said["listenPort"])), _NameServer).serve_forever()
    with socket.create_server(("127.0.0.1", int(said["listenPort"]))) as listener:
        while True:
            listener.accept()


def _listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True


class _NameServer(socketserver.BaseRequestHandler):
    """Knows a master from the second request on; a slave before."""

    known = 1

    def handle(self) -> None:
        heard = b""
        while data := self.request.recv(65536):
            heard += data
            while (found := pull_command(heard)) is not None:
                command, size = found
                heard = heard[size:]
                body = (
                    '{"brokerAddrTable":{"g":{"brokerAddrs":{%d:"127.0.0.1:1"},"brokerName":"g"}}}'
                )
                answer = RemotingCommand(
                    code=0,
                    opaque=command.opaque,
                    flag=FLAG_RESPONSE,
                    body=(body % _NameServer.known).encode(),
                )
                _NameServer.known = 0
                self.request.sendall(push_command(answer))


class _Controller(socketserver.BaseRequestHandler):
    ports: list[int]
    home: Path

    def handle(self) -> None:
        heard = b""
        while data := self.request.recv(65536):
            heard += data
            while (found := pull_command(heard)) is not None:
                command, size = found
                heard = heard[size:]
                content: MetadataInfo | ReplicaInfo
                if isinstance(pull_request(command), GetMetadataInfo):
                    content = MetadataInfo(
                        group="g",
                        leader_id="n0",
                        leader_address=f"127.0.0.1:{self._leader()}",
                        is_leader=True,
                        peers="",
                    )
                else:
                    assert command.code == RequestCode.GET_REPLICA_INFO
                    content = self._replicas()
                answer = push_reply(Reply(content=content), command)
                self.request.sendall(push_command(answer))

    def _leader(self) -> int:
        return max(port for port in self.ports if _listens(port))

    def _replicas(self) -> ReplicaInfo:
        alive = sorted(
            BrokerId(int(path.parent.name[1:]))
            for path in self.home.glob("b*/pid")
            if Path(f"/proc/{path.read_text()}").is_dir()
        )
        return ReplicaInfo(
            master_broker_id=alive[0] if alive else None,
            master_address="127.0.0.1:1" if alive else None,
            master_epoch=Epoch(1),
            sync_state_set=SyncStateSet(frozenset(alive), SyncStateSetEpoch(1)),
        )


if __name__ == "__main__":
    main()
