import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What does a change of the leader do to a follower that has all entries, all of them committed?
 *
 * Usage: Window (look|crash) ENTRIES STORE_FOLDER
 *
 *   look   3 nodes have the entries; the leader stops; nothing else happens. What has the follower of the next leader?
 *   crash  3 of 5 nodes have the entries, C and D were cut off; the leader stops, C and D are back; the next leader
 *          stops while it sends the entries again. No message is lost between nodes that run. What is left?
 */
public final class Window extends Cluster {
    private static final int BODY = 1000;
    private static final long LOOK_MS = 30_000;

    private Window(int size, File stores) throws IOException {
        super(size, stores);
        tellsPushes = false;
    }

    public static void main(String[] args) throws Exception {
        int entries = Integer.parseInt(args[1]);
        int result = 2;
        try {
            boolean crash = args[0].equals("crash");
            result = new Window(crash ? 5 : 3, new File(args[2])).run(entries, crash) ? 1 : 0;
        } catch (Exception gaveUp) {
            System.out.println("RESULT: the history did not happen: " + gaveUp);
        }
        System.exit(result);
    }

    /** Returns whether committed entries were missing: on the follower, or, with a crash, on the last leader. */
    private boolean run(int entries, boolean crash) throws Exception {
        ports.keySet().forEach(this::start);
        String first = awaitLeader(ports.keySet());
        List<String> left = new ArrayList<>(ports.keySet());
        left.remove(first);
        List<String> full = new ArrayList<>(left.subList(0, 2));
        List<String> late = new ArrayList<>(left.subList(2, left.size()));
        late.forEach(this::isolate);
        appendMany(first, entries, BODY);
        await("three nodes have them", () -> full.stream().allMatch(x -> end(x) == entries - 1));
        print(entries);
        say("the leader " + first + " stops");
        stop(first);
        connect(left);

        long least = entries;
        long gone = 0;
        long back = 0;
        long until = System.currentTimeMillis() + LOOK_MS;
        String next = null;
        while (back == 0 && next == null && System.currentTimeMillis() < until) {
            long now = full.stream().mapToLong(x -> end(x) + 1).min().getAsLong();
            least = Math.min(least, now);
            if (now < entries && gone == 0) {
                gone = System.nanoTime();
            } else if (now == entries && gone > 0) {
                back = System.nanoTime();
            } else if (crash && now < entries && now > 0) {
                next = state(full.get(0)).isLeader() ? full.get(0) : full.get(1);
                isolate(next);
            }
        }
        print(entries);
        if (!crash) {
            System.out.println("RESULT: of " + entries + " committed entries the follower had at least " + least
                + "; for " + (back - gone) / 1_000_000 + " ms not all");
            return least < entries;
        }
        require(next != null, "the follower was never seen without entries");
        say("the next leader " + next + " stops");
        stop(next);
        left.remove(next);
        String last = awaitLeader(left);
        append(last, "after");
        print(entries);
        long kept = end(last);
        System.out.println("RESULT: of " + entries + " acknowledged entries the last leader has " + kept);
        return kept < entries;
    }

    private void print(int entries) {
        ports.keySet().forEach(x -> say("   " + x + " " + state(x).getRole() + " term=" + state(x).currTerm()
            + " entries: " + (end(x) + 1)));
    }
}
