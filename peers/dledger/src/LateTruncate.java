import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Does a follower carry out a TRUNCATE of a leader that leads no more? Three nodes. A TRUNCATE that A sent to F when
 * all logs were empty is late; it arrives when F follows B, in a later term.
 *
 * Usage: LateTruncate STORE_FOLDER
 */
public final class LateTruncate extends Cluster {
    private LateTruncate(File stores) throws IOException {
        super(3, stores);
    }

    public static void main(String[] args) throws Exception {
        int result = 2;
        try {
            result = new LateTruncate(new File(args[0])).run() ? 1 : 0;
        } catch (Exception gaveUp) {
            System.out.println("RESULT: the history did not happen: " + gaveUp);
        }
        System.exit(result);
    }

    /** Returns whether F has lost e2 by the late TRUNCATE. */
    private boolean run() throws Exception {
        ports.keySet().forEach(this::start);
        String a = awaitLeader(ports.keySet());
        List<String> rest = new ArrayList<>(ports.keySet());
        rest.remove(a);
        String b = rest.get(0);
        String f = rest.get(1);
        roles.put(a, "A");
        roles.put(b, "B");
        roles.put(f, "F");

        say("1. the first TRUNCATE of A to F is late; a client appends e1");
        link(a, f).late = "TRUNCATE";
        require(append(a, "e1") == 200, "e1 is not acknowledged");
        await("B and F have e1", () -> end(b) == 0 && end(f) == 0);
        print();

        say("2. B is elected (no vote request of F arrives in time), and F follows it; a client appends e2");
        link(f, b).lost = Set.of("VOTE");
        between(a, b, true);
        link(f, a).cut(true);
        link(a, f).lost = Set.of("VOTE", "HEART_BEAT", "COMPARE", "TRUNCATE", "APPEND", "COMMIT");
        require(awaitLeader(List.of(b, f)).equals(b), "B is not the leader");
        say("leader: B in term " + state(b).currTerm());
        require(append(b, "e2") == 200, "e2 is not acknowledged");
        await("F has e2", () -> end(f) == 1);
        Thread.sleep(1000);
        print();

        say("3. the late TRUNCATE of A arrives at F");
        link(a, f).release();
        Thread.sleep(300);
        print();
        boolean lost = !has(f, "e2");
        System.out.println("RESULT: F followed B in term " + state(f).currTerm() + ", and has "
            + (lost ? "LOST" : "kept") + " the committed entries by the late TRUNCATE");
        return lost;
    }
}
