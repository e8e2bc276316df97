import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Is a committed entry lost when a leader truncates a follower?
 *
 * Usage: LossHistory (3|5) (plain|longer|restart) STORE_FOLDER
 *
 * e1 is committed by the leader of the first term, A; B and F have it, the others have not. B leads the next term.
 * When B has truncated F, B stops. Who leads then, and has it e1?
 *   plain    A stops after e1. Only with 5 nodes. (B and F: which of the two is elected.)
 *   longer   F has e2 after e1, of A's term; B has e1 only, and writes another entry after it. With 3 nodes F is A.
 *   restart  as longer, and B restarts before it reaches F.
 */
public final class LossHistory extends Cluster {
    private static final Set<String> PAIR = Set.of("B", "F");

    private String a;
    private String b;
    private String f;
    private List<String> others;
    private volatile boolean stopsAfterTruncate;
    private volatile Link truncated;

    private LossHistory(int size, File stores) throws IOException {
        super(size, stores);
    }

    public static void main(String[] args) throws Exception {
        int size = Integer.parseInt(args[0]);
        int result = 2;
        try {
            result = new LossHistory(size, new File(args[2])).run(args[1]) ? 1 : 0;
        } catch (Exception gaveUp) {
            System.out.println("RESULT: the history did not happen: " + gaveUp);
        }
        System.exit(result);
    }

    @Override
    void pushed(Link link, String kind) {
        if (kind.equals("TRUNCATE") && stopsAfterTruncate && PAIR.contains(roles.get(link.to))) {
            stopsAfterTruncate = false;
            isolate(link.from);
            truncated = link;
        }
    }

    /** Returns whether e1 is lost. */
    private boolean run(String history) throws Exception {
        boolean three = ports.size() == 3;
        require(!(three && history.equals("plain")), "plain needs 5 nodes");
        ports.keySet().forEach(this::start);
        a = awaitLeader(ports.keySet());
        others = new ArrayList<>(ports.keySet());
        others.remove(a);
        b = others.remove(0);
        f = three ? a : others.remove(0);
        nameThem();
        say("leader of the first term: " + name(a) + (three ? " (it is A and F)" : ""));

        say("1. " + names(others) + " cut off; a client appends e1");
        others.forEach(this::isolate);
        int acknowledged = append(a, "e1");
        require(acknowledged == 200, "e1 is not acknowledged");
        await("B and F have e1", () -> end(b) == 0 && end(f) == 0);
        print();

        if (history.equals("plain")) {
            plain();
        } else {
            longer(three, history.equals("restart"));
        }
        stop(b);
        print();

        say("5. F and " + names(others) + " reach each other");
        links.forEach(link -> link.lost = Set.of());
        List<String> left = with(others, f);
        connect(left);
        String last = awaitLeader(left);
        say("leader at the end: " + name(last) + " in term " + state(last).currTerm());
        append(last, "e3");
        Thread.sleep(1500);
        print();
        boolean kept = has(last, "e1");
        say("the acknowledged e1 is " + (kept ? "in" : "NOT in") + " the log of the leader");

        say("6. the nodes that stopped start again, all reach each other");
        start(b);
        if (!three) {
            start(a);
        }
        connect(ports.keySet());
        long e3 = end(last);
        await("all have e3", () -> ports.keySet().stream().allMatch(x -> end(x) == e3 && has(x, "e3")));
        print();
        long copies = ports.keySet().stream().filter(x -> has(x, "e1")).count();
        System.out.println("RESULT: e1 was acknowledged with code " + acknowledged + ", and is "
            + (kept ? "kept" : "LOST") + "; copies of it at the end: " + copies + " of " + ports.size());
        return !kept;
    }

    /** A stops; who is elected of B and F truncates the other. */
    private void plain() {
        say("2. A stops; the others reach each other; what B and F push to " + names(others) + " is lost");
        stop(a);
        for (String other : others) {
            link(b, other).lost = PUSHES;
            link(f, other).lost = PUSHES;
        }
        say("4. who leads stops as soon as the other one of B and F has answered to TRUNCATE, or else after 5 s");
        stopsAfterTruncate = true;
        connect(with(with(others, f), b));
        long[] led = {Long.MAX_VALUE};
        await("TRUNCATE is answered", () -> {
            if (led[0] == Long.MAX_VALUE && (leads(b, f) || leads(f, b))) {
                led[0] = System.currentTimeMillis();
            }
            return truncated != null || System.currentTimeMillis() - led[0] > 5000;
        });
        if (truncated != null ? truncated.from.equals(f) : leads(f, b)) {
            String swap = f;
            f = b;
            b = swap;
            nameThem();
            say("the new leader is " + name(b) + ", called B from now on");
        }
    }

    private boolean leads(String leader, String follower) {
        return state(leader).isLeader() && leader.equals(state(follower).getLeaderId());
    }

    private void longer(boolean three, boolean restart) {
        say("2. e2 reaches only F" + (three ? ", which is cut off" : "; then A stops"));
        between(a, b, true);
        append(a, "e2");
        await("F has e2", () -> end(f) == 1);
        isolate(f);
        if (!three) {
            stop(a);
        }
        print();

        say("3. B reaches " + names(others) + "; they get its heartbeats and votes, its pushes to them are lost");
        others.forEach(other -> link(b, other).lost = PUSHES);
        List<String> electors = with(others, b);
        connect(electors);
        require(awaitLeader(electors).equals(b), "B is not the leader");
        say("leader now: " + name(b) + " in term " + state(b).currTerm());
        append(b, "e2'");
        require(end(b) == 1, "B has not e2'");
        if (restart) {
            stop(b);
            start(b);
            connect(electors);
            say(name(b) + " is started again");
            require(awaitLeader(electors).equals(b), "B is not the leader");
            say("leader now: " + name(b) + " in term " + state(b).currTerm());
        }
        print();

        say("4. B reaches F, and stops as soon as F has answered to TRUNCATE");
        stopsAfterTruncate = true;
        between(b, f, false);
        await("TRUNCATE is answered", () -> truncated != null);
    }

    private void nameThem() {
        roles.put(a, "A");
        roles.put(b, "B");
        roles.put(f, "F");
        for (int i = 0; i < others.size(); i++) {
            roles.put(others.get(i), "CD".substring(i, i + 1));
        }
    }
}
