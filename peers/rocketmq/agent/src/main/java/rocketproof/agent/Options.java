package rocketproof.agent;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

/**
 * What is said behind {@code -javaagent:JAR=}: {@code records=FILE,node=NAME,incarnation=N,names=FILE}.
 *
 * <p>{@code kind=consumer} is said of a client that locks queues, nothing of all others.
 *
 * <p>With {@code gates=FOLDER} threads wait where a file there says so; see Gates.
 *
 * <p>{@code names} is a file of lines {@code HOST:PORT=NODE}: which node listens there, directly or behind a proxy.
 */
final class Options {
    final Path records;
    final String node;
    final int incarnation;
    final Map<String, String> names;
    final boolean isConsumer;
    final Path gates;

    private Options(
            Path records, String node, int incarnation, Map<String, String> names, boolean isConsumer,
            Path gates) {
        this.records = records;
        this.node = node;
        this.incarnation = incarnation;
        this.names = names;
        this.isConsumer = isConsumer;
        this.gates = gates;
    }

    static Options parse(String text) throws IOException {
        Map<String, String> said = new HashMap<>();
        for (String one : text == null ? new String[0] : text.split(",")) {
            int equals = one.indexOf('=');
            if (equals < 0) {
                throw new IllegalArgumentException("no NAME=VALUE: " + one);
            }
            said.put(one.substring(0, equals), one.substring(equals + 1));
        }
        for (String name : new String[] {"records", "node", "incarnation", "names"}) {
            if (!said.containsKey(name)) {
                throw new IllegalArgumentException("the agent lacks its option " + name);
            }
        }
        return new Options(
            Paths.get(said.get("records")),
            said.get("node"),
            Integer.parseInt(said.get("incarnation")),
            readNames(Paths.get(said.get("names"))),
            "consumer".equals(said.get("kind")),
            said.containsKey("gates") ? Paths.get(said.get("gates")) : null);
    }

    private static Map<String, String> readNames(Path file) throws IOException {
        Map<String, String> names = new HashMap<>();
        for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
            int equals = line.lastIndexOf('=');
            if (equals > 0) {
                names.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        return Collections.unmodifiableMap(names);
    }
}
