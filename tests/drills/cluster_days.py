"""Bad days of a cluster. Each happens while clients ask, and is over when its function returns: what died runs
again, every way is open. `touches` keeps apart what can not be told from each other on the same day."""

import contextlib
import dataclasses
import errno
import time
from collections.abc import Callable

from postgres import PostgresError
from service import wait_until, within


@dataclasses.dataclass(frozen=True)
class Day:
    name: str
    touches: frozenset
    run: Callable
    needs: str = ""  # what of the machine or of the command line: an attribute of the drill


DAYS = {}


def day(*touches, needs=""):
    def kept(function):
        DAYS[function.__name__] = Day(function.__name__, frozenset(touches), function, needs)
        return function

    return kept


def owner_of(drill):
    """Whoever owns the book; there is one again, some time after the day before."""
    return wait_until(drill.world.owner, 30, "an owner in the database")


def followers_of(drill):
    owner = owner_of(drill)
    return [node for node in drill.world.nodes if node is not owner]


def killed(drill, node):
    drill.died_by_itself(node)
    node.kill()


def started(drill, node):
    node.spawn()
    node.wait_until_listening()


# --- nodes ---


@day("owner")
def kill_owner(drill):
    owner = owner_of(drill)
    killed(drill, owner)
    drill.pause(3, 8)
    started(drill, owner)


@day("owner")
def kill_owner_and_start_at_once(drill):
    owner = owner_of(drill)
    killed(drill, owner)
    started(drill, owner)


@day("owner")
def stop_owner(drill):
    """SIGSTOP: it comes back and believes that no time has passed."""
    owner = owner_of(drill)
    drill.died_by_itself(owner)
    owner.pause()
    drill.pause(2, 20)
    owner.go_on()


@day("owner")
def stop_owner_twice(drill):
    """The next one as well, so that an owner of an earlier epoch meets its successor's successor."""
    first = owner_of(drill)
    first.pause()
    within(lambda: drill.world.owner() not in (None, first), 12)
    second = owner_of(drill)
    if second is not first:
        second.pause()
        drill.pause(0, 2)
        first.go_on()
        drill.pause(2, 6)
        second.go_on()
    else:
        first.go_on()


@day("owner")
def step_down(drill):
    owner = owner_of(drill)
    begin = time.monotonic()
    done = owner.cluster("step-down")
    if done.returncode == 0:
        drill.counts["steps down"] += 1
        drill.steps_down.append(time.monotonic() - begin)
    else:
        drill.counts["steps down refused"] += 1
        drill.note(f"step-down was refused: {done.stdout}{done.stderr}")


@day("nodes")
def kill_follower(drill):
    node = drill.chance_of_day().choice(followers_of(drill))
    killed(drill, node)
    drill.pause(0, 4)
    started(drill, node)


@day("nodes")
def wipe_follower(drill):
    node = drill.chance_of_day().choice(followers_of(drill))
    killed(drill, node)
    node.wipe()
    started(drill, node)


@day("owner", "nodes", "database")
def restart_all(drill):
    for node in drill.world.nodes:
        killed(drill, node)
    if drill.chance_of_day().random() < 0.5:
        pair = drill.world.pair
        pair.primary.kill()
        pair.standby.kill()
        pair.primary.start()
        pair.return_standby()
    drill.pause(0, 3)
    for node in drill.world.nodes:
        node.spawn()
    for node in drill.world.nodes:
        node.wait_until_listening()


@day("nodes", "owner", "clocks")
def clocks(drill):
    """One node's clock is minutes away from its start on, and the owner dies."""
    chance = drill.chance_of_day()
    owner = owner_of(drill)
    node = chance.choice(followers_of(drill))
    killed(drill, node)
    node.clock.set(chance.choice((-1, 1)) * chance.uniform(120, 900))
    started(drill, node)
    drill.pause(1, 3)
    killed(drill, owner)
    drill.pause(5, 9)
    if drill.world.owner() is node:
        drill.counts["owners whose clock is wrong"] += 1
    started(drill, owner)
    drill.pause(1, 4)
    killed(drill, node)
    node.clock.set(0)
    started(drill, node)


@day("clocks")
def clock_of_owner_steps(drill):
    chance = drill.chance_of_day()
    owner = owner_of(drill)
    owner.clock.set(chance.choice((-1, 1)) * chance.uniform(61, 900))
    drill.pause(4, 10)
    owner.clock.set(0)


@day("nodes", "owner", needs="has_disks")
def full_disk(drill):
    node = drill.chance_of_day().choice(drill.world.nodes)
    filler = node.data / "filler"
    try:
        with open(filler, "wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12):
                with contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(size))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
    drill.counts["disks full, of owners"] += node is drill.world.owner()
    drill.pause(2, 8)
    filler.unlink()


@day("owner", "nodes", "schema", needs="newer_binary")
def newer_schema(drill):
    """Once: a node with a newer program takes the book, and those of the older one can not follow."""
    if drill.upgraded:
        return kill_owner(drill)
    drill.upgraded = True
    first, *others = followers_of(drill) + [owner_of(drill)]
    killed(drill, first)
    first.program = drill.newer_binary
    started(drill, first)
    drill.pause(2, 4)
    # The newest file is at the others' until it takes over.
    owner = owner_of(drill)
    for _ in range(10):
        if owner is first:
            break
        owner.cluster("step-down")
        drill.pause(3, 5)
        owner = owner_of(drill)
    if owner is not first:
        drill.violation("the node of the newer schema never took the book")
    drill.pause(2, 4)
    for node in others:
        status, cluster = node.health()
        drill.counts["nodes of the older schema that said so"] += cluster.get("obstacle") == "entry_unreadable"
        if status == 200 and owner is first:
            drill.violation(f"{node.name} follows a newer schema than it knows: {cluster}")
    for node in others:
        killed(drill, node)
        node.program = drill.newer_binary
        started(drill, node)
    return None


# --- the database ---


def rewound(drill):
    """The dead one follows. A rewind that fails is no fault of ours; then it is copied anew, as an operator does."""
    try:
        drill.world.pair.bring_back()
    except (PostgresError, AssertionError) as error:
        drill.note(f"the old primary was copied anew: {error}")
        drill.counts["standbys copied anew"] += 1
        drill.world.pair.renew_standby()


@day("database")
def promote(drill):
    """The primary dies, its standby takes its place, and the old one follows after pg_rewind."""
    drill.world.pair.promote()
    rewound(drill)


@day("database")
def promote_with_waiting_entries(drill):
    """The old primary has what its standby never saw: it goes with pg_rewind."""
    pair = drill.world.pair
    pair.freeze_standby()
    drill.pause(0.3, 1.5)
    pair.primary.kill()
    pair.thaw_standby()
    pair.promote()
    rewound(drill)


@day("database")
def crash_primary(drill):
    drill.world.pair.crash()
    drill.world.pair.wait_until_synchronous()


@day("database")
def crash_with_waiting_entries(drill):
    """Entries are visible afterwards that were never acknowledged."""
    pair = drill.world.pair
    pair.freeze_standby()
    within(pair.waiting, 3)
    drill.pause(0, 1)
    pair.crash()
    drill.pause(0, 2)
    pair.thaw_standby()
    pair.wait_until_synchronous()


@day("database")
def cancel_wait(drill):
    pair = drill.world.pair
    pair.freeze_standby()
    until = time.monotonic() + drill.chance_of_day().uniform(0.5, 4)
    while time.monotonic() < until:
        with contextlib.suppress(PostgresError):
            drill.counts["waits cancelled"] += pair.cancel_waits()
        time.sleep(0.02)
    pair.thaw_standby()
    pair.wait_until_synchronous()


@day("database")
def lose_standby(drill):
    pair = drill.world.pair
    pair.lose_standby()
    drill.pause(1, 8)
    pair.return_standby()


@day("database")
def freeze_standby(drill):
    pair = drill.world.pair
    pair.freeze_standby()
    drill.pause(1, 8)
    pair.thaw_standby()
    pair.wait_until_synchronous()


@day("database")
def one_disk(drill):
    """An operator takes the standby out of the settings: nothing may be accepted on one disk."""
    pair = drill.world.pair
    pair.primary.ask("alter system set synchronous_standby_names = ''", "postgres")
    pair.primary.ask("select pg_reload_conf()", "postgres")
    drill.pause(1, 1)
    since = time.monotonic()
    drill.pause(2, 4)
    accepted = drill.notebook.first_accepted(since)
    pair.primary.ask("alter system reset synchronous_standby_names", "postgres")
    pair.primary.ask("select pg_reload_conf()", "postgres")
    if accepted is not None:
        drill.violation(f"a request was accepted on one disk, {accepted - since:.1f} s after the settings were read")


@day("database", "owner", "nodes", "ways", "clocks", "schema")
def promote_stale(drill):
    """One that lacks the last entries is promoted: every node has them, so none may go on with it."""
    world, pair = drill.world, drill.world.pair
    world.wait_until_whole()
    pair.archive()
    pair.standby.stop()
    lacks = world.last_entry()
    wait_until(lambda: all(node.position() > lacks + 1 for node in world.nodes), 30,
               "entries that the standby lacks in every file")
    pair.stop_archive()
    epoch = world.ownership()[0]
    pair.promote()
    since = time.monotonic()
    drill.pause(8, 12)
    accepted = drill.notebook.first_accepted(since)
    if accepted is not None:
        drill.violation(f"a request was accepted {accepted - since:.1f} s after a database went back")
    if world.ownership()[0] > epoch:
        drill.violation("a node took the book in a database that went back")
    drill.counts["nodes that said that it went back"] += sum(
        node.health()[1].get("obstacle") == "database_went_back" for node in world.nodes)
    pair.reinstate()
    rewound(drill)
    if not within(world.serving, 15):
        # It is an operator's to say that the database is the right one again.
        drill.counts["restarts after a database went back"] += 1
        for node in world.nodes:
            killed(drill, node)
        for node in world.nodes:
            started(drill, node)


# --- the ways ---


def trouble(drill, relays, least, most):
    """Cut, frozen or slow for some time."""
    chance = drill.chance_of_day()
    kind = chance.choice(("cut", "freeze", "delay"))
    for relay in relays:
        relay.delay(chance.uniform(0.02, 0.4)) if kind == "delay" else getattr(relay, kind)()
    drill.counts[f"ways {kind}"] += 1
    drill.pause(least, most)
    for relay in relays:
        relay.heal()


@day("ways")
def way_of_owner_to_database(drill):
    trouble(drill, owner_of(drill).to_database, 1, 9)


@day("ways")
def way_of_follower_to_database(drill):
    trouble(drill, drill.chance_of_day().choice(followers_of(drill)).to_database, 1, 9)


@day("ways")
def ways_between_nodes(drill):
    nodes = drill.world.nodes
    chosen = drill.chance_of_day().sample(nodes, drill.chance_of_day().randint(1, len(nodes)))
    trouble(drill, [node.inbound for node in chosen], 1, 6)


@day("ways")
def way_of_owner_to_chains(drill):
    owner = owner_of(drill)
    trouble(drill, [owner.to_chain, owner.to_votes], 1, 8)


@day("ways", "owner")
def slow_way_and_kill_owner(drill):
    """What it decided last is lost on its way to the database: nobody may have heard of it."""
    owner = owner_of(drill)
    for relay in owner.to_database:
        relay.delay(drill.chance_of_day().uniform(0.2, 0.5))
    drill.pause(1, 3)
    killed(drill, owner)
    for relay in owner.to_database:
        relay.cut()
    drill.pause(0, 5)
    for relay in owner.to_database:
        relay.heal()
    started(drill, owner)


@day("ways", "owner")
def late_entry_of_dead_owner(drill):
    """What it decided last reaches the database after its death."""
    owner = owner_of(drill)
    for relay in owner.to_database:
        relay.freeze()
    drill.pause(0.3, 1.5)
    killed(drill, owner)
    drill.pause(0, 5)
    for relay in owner.to_database:
        relay.heal()
    started(drill, owner)


def drawn(drill, only=()):
    """One or two days that can be on the same one. `only`: names to draw one of."""
    possible = [one for one in DAYS.values() if not one.needs or getattr(drill, one.needs)]
    if only:
        return [drill.chance.choice([one for one in possible if one.name in only])]
    first = drill.chance.choice(possible)
    others = [one for one in possible if not one.touches & first.touches]
    if not others or drill.chance.random() < 0.4:
        return [first]
    return [first, drill.chance.choice(others)]
