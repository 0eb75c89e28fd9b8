"""Lanes: the short way between two of our tasks, beside gRPC, which everyone else takes.

A lane carries calls to WorkerService and EagerService, and tensors as their own bytes: written from the memory they are
in, read into the memory they stay in. On one machine it is a local socket under the name of the address that the server
listens at, open to processes of the same user only; sockets named so belong to a network namespace, as ports do, and
leave no files behind. Between machines it is a connection to a port that the system chose, open to whom the server told
the port and a word by gRPC. What holds for gRPC (`platform/trust.py`) holds here, too: the secret, and how long a
message may be; where gRPC is encrypted, nothing goes on lanes between machines.
"""

from __future__ import annotations

import hmac
import itertools
import math
import os
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from everflow.cluster.values import Parcel, described, of_description
from everflow.framework import errors
from everflow.platform.trust import listener, trust

if TYPE_CHECKING:
    from google.protobuf.message import Message

_FRAME = struct.Struct("<BQIQ")  # kind, number of the call, bytes of its head, bytes of tensors that follow
_CALL, _ASK, _CANCEL, _ANSWER, _VALUES, _FAILURE = range(6)
_STATUS = struct.Struct("<I")
_STEP = struct.Struct("<Q")
_TOGETHER = 1 << 16  # values up to so many bytes are read at once, into one buffer
_PIECES = 512  # that one system call takes
_PLACE = struct.Struct("<H")  # the port of a lane between machines; the word follows
_WORD = 48  # bytes that a caller says first
_WELCOME = b"\x01"
_CONNECTING_SECONDS, _WELCOME_SECONDS = 1.0, 5.0
# Where there are lanes: on one machine, between machines. `network` has the latter on one machine as well, to measure.
_WANTED = {"0": (False, False), "local": (True, False), "network": (False, True)}.get(
    os.environ.get("EVERFLOW_LANES", ""), (True, True)
)
LOCAL = _WANTED[0] and sys.platform == "linux" and hasattr(socket, "SO_PEERCRED")
NETWORK = _WANTED[1]


def _name(host: str, port: str) -> str:
    """The name of the lane to a server, by the host that the cluster's addresses have for it."""
    return f"\0everflow/{'127.0.0.1' if host in ('', 'localhost') else host}:{port}"


def _greeting() -> bytes:
    """What a caller says first, always as long: only one that knows the secret can."""
    return trust().seal("lane", b"everflow lane 2\n").ljust(_WORD)


def _is_same_user(sock: socket.socket) -> bool:
    _, user, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return user == os.getuid()


class Frame(NamedTuple):
    """What came in one piece: its kind, the call it belongs to, its head, and tensors that came with it."""

    kind: int
    number: int
    head: bytes
    parcels: list[Parcel]


class _Ended(Exception):
    """The other side has gone, or nothing more is wanted of it: why."""


class _Line:
    """One end of a lane: frames out, from any thread; frames in, from one."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        if sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # frames are written whole
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._writing = threading.Lock()
        self._longest = trust().longest_message or math.inf

    def write(self, kind: int, number: int, head: bytes, parcels: list[Parcel] | None = None) -> None:
        """Write a frame; it is on its way when this returns. A line that is broken takes anything: its reader tells."""
        arrays = [p.array for p in parcels or ()]
        if parcels:
            head = described(parcels)
        tensors = [_bytes_of(a) for a in arrays if a.nbytes]
        following = sum(t.nbytes for t in tensors)
        pieces = [memoryview(_FRAME.pack(kind, number, len(head), following) + head), *tensors]
        try:
            with self._writing:
                for start in range(0, len(pieces), _PIECES):
                    self._write_all(pieces[start : start + _PIECES])
        except OSError:
            self.close()

    def _write_all(self, pieces: list[memoryview]) -> None:
        while pieces:
            sent = self._socket.sendmsg(pieces)
            while pieces and sent >= len(pieces[0]):
                sent -= len(pieces[0])
                pieces = pieces[1:]
            if sent:
                pieces = [pieces[0][sent:], *pieces[1:]]

    def admits(self, word: bytes) -> bool:
        """Whether who called knows the word, soon; he is told."""
        self._socket.settimeout(_WELCOME_SECONDS)
        knows = hmac.compare_digest(self._read(len(word)), word)
        self._socket.settimeout(None)
        if knows:
            self._write_all([memoryview(_WELCOME)])
        return knows

    def read(self) -> Frame:
        kind, number, length, following = _FRAME.unpack(self._read(_FRAME.size))
        if kind > _FAILURE:
            raise _Ended("it speaks another language")
        if length + following > self._longest:
            raise _Ended(
                f"it sent a message of {length + following} bytes, and EVERFLOW_CLUSTER_MESSAGE_LIMIT allows {self._longest}"
            )
        head = bytes(self._read(length)) if length else b""
        return Frame(kind, number, head, self._parcels(head, following) if kind == _VALUES else [])

    def _parcels(self, head: bytes, following: int) -> list[Parcel]:
        try:
            empty = of_description(head, following)
        except (TypeError, ValueError, struct.error) as e:  # a type or a shape that can't be
            raise _Ended(f"it sent tensors that can't be read: {e}") from None
        if following > _TOGETHER:
            for parcel in empty:
                self._fill(_bytes_of(parcel.array))
            return empty
        data, start = self._read(following), 0
        for parcel in empty:
            size = parcel.array.nbytes
            if size:
                _bytes_of(parcel.array)[:] = data[start : start + size]
                start += size
        return empty

    def _read(self, count: int) -> memoryview:
        made = memoryview(bytearray(count))
        self._fill(made)
        return made

    def _fill(self, view: memoryview) -> None:
        while view.nbytes:
            try:
                count = self._socket.recv_into(view)
            except OSError:
                count = 0
            if not count:
                raise _Ended("its process has ended")
            view = view[count:]

    def close(self) -> None:
        """Let whoever reads or writes here, or at the other end, stop."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it is closed already
        self._socket.close()


def _bytes_of(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data if array.nbytes else memoryview(b"")


# --- calling --------------------------------------------------------------------------------


def connect(address: str) -> Lane | None:
    """A lane to the server at an address, if it is one of ours on this machine that has one."""
    host, _, port = address.rpartition(":")
    if not LOCAL or _is_watched() or not _is_here(host):
        return None
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.connect(_name(host, port))
        is_ours = _is_same_user(sock)
    except OSError:
        is_ours = False  # nobody serves under this name
    if is_ours:
        return _lane(sock, address, _greeting())
    sock.close()
    return None


def connect_between_machines(address: str, ask: Callable[[], bytes]) -> Lane | None:
    """A lane to one of our servers elsewhere; `ask()` has it tell what `LaneServer.place` said, by gRPC. None where
    there is none, or something is in between that lets only gRPC through.
    """
    if not NETWORK or _is_watched() or trust().is_encrypted:
        return None
    place = ask()
    if len(place) != _PLACE.size + _WORD:
        return None
    host = address.rpartition(":")[0].strip("[]") or "localhost"
    try:
        sock = socket.create_connection((host, *_PLACE.unpack_from(place)), _CONNECTING_SECONDS)
    except OSError:
        return None
    return _lane(sock, address, place[_PLACE.size :])


def _lane(sock: socket.socket, address: str, word: bytes) -> Lane | None:
    """The lane that a connection is, where who is at its other end takes the word."""
    try:
        if _is_welcome(sock, word):
            return Lane(sock, address)
    except OSError:
        pass  # it is somebody else, who hung up or says nothing
    sock.close()
    return None


def _is_watched() -> bool:
    """Whether it shall be noticed when another process is silent: gRPC has questions for that."""
    return trust().patience > 0


def _is_welcome(sock: socket.socket, word: bytes) -> bool:
    sock.settimeout(_WELCOME_SECONDS)
    sock.sendall(word)
    is_welcome = sock.recv(1) == _WELCOME
    sock.settimeout(None)
    return is_welcome


def _is_here(host: str) -> bool:
    """Whether a host is this machine, as far as can be told without asking anybody."""
    if host in ("localhost", socket.gethostname()):
        return True
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            socket.inet_aton(host)  # names are not looked up
            probe.bind((host, 0))
    except OSError:
        return False
    return True


class Lane:
    """The calling end."""

    def __init__(self, sock: socket.socket, name: str) -> None:
        self._line = _Line(sock)
        self._name = name
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._calls: dict[int, LaneCall] = {}
        self._why = "its session was closed"
        self.is_open = True
        threading.Thread(target=self._read, daemon=True, name="everflow lane").start()

    def start(self, method: str, request: Message, response: type, timeout: float | None) -> LaneCall:
        """Begin a call of WorkerService."""
        head = b"%s\n%s" % (method.encode(), request.SerializeToString())
        return self._begin(_CALL, head, response.FromString, timeout)  # type: ignore[attr-defined]

    def ask(self, step_id: int, keys: list[str]) -> LaneCall:
        """Ask for the values of a run under these keys, all at once: the result is a list of arrays."""
        return self._begin(_ASK, _STEP.pack(step_id) + "\n".join(keys).encode(), None, None)

    def _begin(self, kind: int, head: bytes, read: Callable[[bytes], Any] | None, timeout: float | None) -> LaneCall:
        call = LaneCall(self, next(self._numbers), read, timeout)
        with self._lock:
            is_open = self.is_open
            self._calls[call.number] = call
        if is_open:
            self._line.write(kind, call.number, head)
        else:
            self.forget(call, self._gone())
        return call

    def forget(self, call: LaneCall, error: errors.OpError) -> None:
        """Nobody waits for a call any more."""
        with self._lock:
            known = self._calls.pop(call.number, None)
        if known is not None:
            call.end(error=error)
            if self.is_open:
                self._line.write(_CANCEL, call.number, b"")

    def _gone(self) -> errors.OpError:
        return errors.UnavailableError(None, None, f"{self._name} can't be reached: {self._why}")

    def _read(self) -> None:
        try:
            while True:
                frame = self._line.read()
                with self._lock:
                    call = self._calls.pop(frame.number, None)
                if call is None:
                    continue  # it was given up
                if frame.kind == _FAILURE:
                    text = frame.head[_STATUS.size :].decode()
                    call.end(error=errors.of_code(_STATUS.unpack_from(frame.head)[0], None, None, text))
                else:
                    call.end(frame=frame)
                del frame, call  # nothing stays alive while the line is quiet
        except _Ended as e:
            if self.is_open:
                self._why = str(e)
        finally:
            self.close()

    def close(self) -> None:
        with self._lock:
            self.is_open = False
            calls, self._calls = list(self._calls.values()), {}
        self._line.close()
        for call in calls:
            call.end(error=self._gone())


class LaneCall:
    """A call under way, with the part of a grpc.Future that callers use; errors are ours already."""

    def __init__(self, lane: Lane, number: int, read: Callable[[bytes], Any] | None, timeout: float | None) -> None:
        self.number = number
        self._lane = lane
        self._read = read
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._latch = threading.Lock()  # held until the call has ended
        self._latch.acquire()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[LaneCall], None]] = []
        self._error: errors.OpError | None = None
        self._result: Any = None
        self._is_done = False

    def end(self, frame: Frame | None = None, error: errors.OpError | None = None) -> None:
        """The answer has come, or the call has failed."""
        if frame is not None:
            self._result = frame.parcels if self._read is None else self._read(frame.head)
        with self._lock:
            self._error, self._is_done = error, True
            callbacks, self._callbacks = self._callbacks, []
        self._latch.release()
        for callback in callbacks:
            callback(self)

    def done(self) -> bool:
        return self._is_done

    def wait(self, timeout: float | None = None) -> bool:
        """Whether it has ended, after at most so many seconds."""
        if self._is_done:
            return True
        if not self._latch.acquire(timeout=-1 if timeout is None else timeout):
            return False
        self._latch.release()  # for others who wait
        return True

    def result(self) -> Any:
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        if not self.wait(left):
            self._lane.forget(self, errors.DeadlineExceededError(None, None, "Deadline Exceeded"))
        if self._error is not None:
            raise self._error
        return self._result

    def exception(self) -> errors.OpError | None:
        self.wait()
        return self._error

    def cancelled(self) -> bool:
        return isinstance(self._error, errors.CancelledError)

    def cancel(self) -> None:
        if not self._is_done:
            self._lane.forget(self, errors.CancelledError(None, None, "The call was cancelled"))

    def add_done_callback(self, action: Callable[[LaneCall], None]) -> None:
        with self._lock:
            if not self._is_done:
                self._callbacks.append(action)
                return
        action(self)


# --- serving --------------------------------------------------------------------------------

Answer = Callable[[list[Parcel] | errors.OpError], None]


class LaneServer:
    """The serving end: `call(method, head, call)` gives the answer to a call as bytes, in a thread of `submit`;
    `ask(step_id, keys, answer)` has values given to `answer`, now or later.
    """

    def __init__(
        self,
        host: str,
        port: int,
        call: Callable[[str, bytes, IncomingCall], bytes],
        ask: Callable[[int, list[str], Answer], None],
        submit: Callable[..., Any],
    ) -> None:
        self._call, self._ask, self._submit = call, ask, submit
        self._lines: set[_Line] = set()
        self._is_open = True
        self._lock = threading.Lock()
        self._listeners: list[socket.socket] = []
        self.place = b""  # of lanes between machines, for whom gRPC lets in
        if LOCAL:
            self._listen(_local_listener(host, port), _greeting())
        if NETWORK and not trust().is_encrypted:
            reachable, word = listener(host), os.urandom(_WORD)
            self.place = _PLACE.pack(reachable.getsockname()[1]) + word
            self._listen(reachable, word)

    def _listen(self, listening: socket.socket | None, word: bytes) -> None:
        if listening is not None:
            self._listeners.append(listening)
            threading.Thread(target=self._accept, args=(listening, word), daemon=True, name="everflow lanes").start()

    def _accept(self, listening: socket.socket, word: bytes) -> None:
        while True:
            try:
                sock, _ = listening.accept()
            except OSError:
                return  # closed
            if sock.family != socket.AF_UNIX or _is_same_user(sock):
                threading.Thread(target=self._serve, args=(sock, word), daemon=True, name="everflow lane").start()
            else:
                sock.close()

    def _serve(self, sock: socket.socket, word: bytes) -> None:
        line, calls = _Line(sock), _Incoming()
        with self._lock:
            self._lines.add(line)
            is_open = self._is_open  # it may have been closed since this was accepted, and knows nothing of it
        try:
            if is_open and line.admits(word):
                while True:
                    frame = line.read()
                    if frame.kind == _CALL:
                        self._submit(self._answer, line, frame.number, frame.head, calls.new(frame.number))
                    elif frame.kind == _ASK:
                        (step_id,) = _STEP.unpack_from(frame.head)
                        keys = frame.head[_STEP.size :].decode().split("\n")
                        self._ask(step_id, keys, self._giver(line, frame.number, threading.get_ident()))
                    elif frame.kind == _CANCEL:
                        calls.end(frame.number)
                    del frame
        except (_Ended, ValueError, struct.error):
            pass  # the caller has gone, or speaks another language
        finally:
            with self._lock:
                self._lines.discard(line)
            line.close()
            calls.end_all()

    def _answer(self, line: _Line, number: int, head: bytes, call: IncomingCall) -> None:
        method, _, request = head.partition(b"\n")
        try:
            line.write(_ANSWER, number, self._call(method.decode(), request, call))
        except errors.OpError as e:
            line.write(_FAILURE, number, _STATUS.pack(e.error_code) + e.message.encode())
        finally:
            call.over()

    def _giver(self, line: _Line, number: int, reader: int) -> Answer:
        def give(found: list[Parcel] | errors.OpError) -> None:
            if isinstance(found, errors.OpError):
                line.write(_FAILURE, number, _STATUS.pack(found.error_code) + found.message.encode())
            elif threading.get_ident() == reader and sum(p.array.nbytes for p in found) > _TOGETHER:
                # Who reads must not wait until somebody else has read.
                self._submit(line.write, _VALUES, number, b"", found)
            else:
                line.write(_VALUES, number, b"", found)

        return give

    def close(self) -> None:
        """Serve no longer; calls under way fail."""
        for listening in self._listeners:
            listening.shutdown(socket.SHUT_RDWR)  # or its thread would go on waiting
            listening.close()
        with self._lock:
            self._is_open = False
            lines = list(self._lines)
        for line in lines:
            line.close()


def _local_listener(host: str, port: int) -> socket.socket | None:
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.bind(_name(host, str(port)))
    except OSError:  # another network's server has a port of this number: callers take other ways
        sock.close()
        return None
    sock.listen()
    return sock


class IncomingCall:
    """The other end of a call that is being served: as `wire.Call`, of which it is one."""

    def __init__(self, forget: Callable[[], None]) -> None:
        self._forget = forget
        self._lock = threading.Lock()
        self._actions: list[Callable[[], None]] = []
        self.is_wanted = True

    def when_over(self, action: Callable[[], None]) -> None:
        """Have `action()` called when the call ends, also because the caller gave up."""
        with self._lock:
            if self.is_wanted:
                self._actions.append(action)
                return
        action()

    def over(self) -> None:
        """The call has ended."""
        self._forget()
        with self._lock:
            self.is_wanted = False
            actions, self._actions = self._actions, []
        for action in actions:
            action()


class _Incoming:
    """The calls of one line that are being served, by number."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[int, IncomingCall] = {}

    def new(self, number: int) -> IncomingCall:
        call = IncomingCall(lambda: self._forget(number))
        with self._lock:
            self._calls[number] = call
        return call

    def _forget(self, number: int) -> None:
        with self._lock:
            self._calls.pop(number, None)

    def end(self, number: int) -> None:
        with self._lock:
            call = self._calls.get(number)
        if call is not None:
            call.over()

    def end_all(self) -> None:
        with self._lock:
            calls = list(self._calls.values())
        for call in calls:
            call.over()
