import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Can one node lead one term twice, and give one index two entries in that term? Three nodes. P leads; x, at index 1,
 * is on P and Q. A power cut takes x from the files of P, for they were not synchronised yet; P starts again. R has
 * voted for P in that term.
 *
 * Usage: PowerCut STORE_FOLDER
 *
 * The power cut: the store of P is put back to a copy that was made before x. Its term and vote are in the copy.
 */
public final class PowerCut extends Cluster {
    private PowerCut(File stores) throws IOException {
        super(3, stores);
    }

    public static void main(String[] args) throws Exception {
        int result = 2;
        try {
            result = new PowerCut(new File(args[0])).run() ? 1 : 0;
        } catch (Exception gaveUp) {
            System.out.println("RESULT: the history did not happen: " + gaveUp);
        }
        System.exit(result);
    }

    /** Returns whether two nodes keep different entries at one index. */
    private boolean run() throws Exception {
        ports.keySet().forEach(this::start);
        String p = awaitLeader(ports.keySet());
        List<String> rest = new ArrayList<>(ports.keySet());
        rest.remove(p);
        String r = rest.stream().filter(x -> p.equals(state(x).currVoteFor())).findFirst().orElseThrow();
        rest.remove(r);
        String q = rest.get(0);
        roles.put(p, "P");
        roles.put(q, "Q");
        roles.put(r, "R");
        append(p, "e0");
        await("all have e0", () -> end(q) == 0 && end(r) == 0);
        Thread.sleep(500);
        Path copy = store(p).resolveSibling("copy");
        copyTree(store(p), copy);
        long term = state(p).currTerm();

        say("1. R cut off; a client appends x");
        isolate(r);
        require(append(p, "x") == 200, "x is not acknowledged");
        await("Q has x", () -> end(q) == 1);
        print();

        say("2. Q cut off; power cut at P: x was not synchronised; P starts with what was");
        isolate(q);
        stop(p);
        deleteTree(store(p));
        copyTree(copy, store(p));
        start(p);
        print();

        say("3. P and R reach each other; no vote request of R arrives in time");
        link(r, p).lost = Set.of("VOTE");
        between(p, r, false);
        require(awaitLeader(List.of(p, r)).equals(p), "P is not the leader");
        say("leader: P in term " + state(p).currTerm() + "; before the power cut it led term " + term);
        require(append(p, "y") == 200, "y is not acknowledged");
        await("R has y", () -> end(r) == 1);
        print();
        boolean twice = state(p).currTerm() == term;

        say("4. P stops; Q and R start again, and reach each other");
        stop(p);
        stop(q);
        stop(r);
        link(r, p).lost = Set.of();
        start(q);
        start(r);
        connect(List.of(q, r));
        String last = awaitLeader(List.of(q, r));
        say("leader at the end: " + name(last) + " in term " + state(last).currTerm());
        append(last, "z");
        await("both have z", () -> has(q, "z") && has(r, "z"));
        print();
        boolean differ = has(q, "x") != has(r, "x");
        System.out.println("RESULT: P led one term twice: " + twice + "; x and y acknowledged at one index of "
            + (twice ? "one term" : "two terms") + "; Q and R have " + (differ ? "DIFFERENT" : "equal")
            + " entries at that index");
        return differ;
    }

    private Path store(String node) {
        return Path.of(nodes.get(node).getDLedgerConfig().getDefaultPath());
    }

    private static void copyTree(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path path : (Iterable<Path>) all::iterator) {
                Files.copy(path, to.resolve(from.relativize(path).toString()), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    private static void deleteTree(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            all.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        }
    }
}
