"""Who waits for objects that join others hears of each, until it stops or is gone."""

import gc

from everflow.framework import attachments


class Listener:
    def __init__(self):
        self.heard = []

    def joined(self, owner):
        self.heard.append(owner)


def test_a_listener_hears_until_it_stops():
    listener = Listener()
    attachments.joined("before")
    attachments.wait(listener)
    attachments.wait(listener)  # twice is once
    attachments.joined("during")
    attachments.stop(listener)
    attachments.stop(listener)
    attachments.joined("after")
    assert listener.heard == ["during"]


def test_a_listener_may_stop_while_it_is_told():
    class Once(Listener):
        def joined(self, owner):
            super().joined(owner)
            attachments.stop(self)

    listeners = [Once(), Once()]
    for listener in listeners:
        attachments.wait(listener)
    for owner in "ab":
        attachments.joined(owner)
    assert [listener.heard for listener in listeners] == [["a"], ["a"]]


def test_nobody_is_kept_alive_by_waiting():
    listener = Listener()
    heard = listener.heard
    attachments.wait(listener)
    del listener
    gc.collect()
    attachments.joined("later")
    assert heard == []
