import com.alibaba.fastjson.JSONObject;
import io.openmessaging.storage.dledger.DLedgerConfig;
import io.openmessaging.storage.dledger.DLedgerServer;
import io.openmessaging.storage.dledger.MemberState;
import io.openmessaging.storage.dledger.client.DLedgerClient;
import io.openmessaging.storage.dledger.entry.DLedgerEntry;
import io.openmessaging.storage.dledger.protocol.AppendEntryRequest;
import io.openmessaging.storage.dledger.protocol.AppendEntryResponse;
import io.openmessaging.storage.dledger.protocol.DLedgerResponseCode;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * Real DLedger servers with file stores on loopback. Between each two of them are links that can be cut and that
 * can lose messages. Nothing of the library is changed, and of its settings only the heartbeat and the file sizes.
 */
class Cluster {
    static final Set<String> PUSHES = Set.of("COMPARE", "TRUNCATE", "APPEND", "COMMIT");
    private static final String GROUP = "history";
    private static final int HEARTBEAT_MS = 1000;
    private static final long PATIENCE_MS = 60_000;
    private static final int DATA_FILE_SIZE = 16 * 1024 * 1024;
    private static final int INDEX_FILE_SIZE = 1024 * 1024;

    final Map<String, Integer> ports = new TreeMap<>();
    final Map<String, String> roles = new TreeMap<>();
    final List<Link> links = new ArrayList<>();
    final Map<String, DLedgerServer> nodes = new TreeMap<>();
    volatile boolean tellsPushes = true;
    private final long begun = System.currentTimeMillis();
    private final File folder;

    Cluster(int size, File stores) throws IOException {
        folder = Files.createTempDirectory(stores.toPath(), "stores").toFile();
        List<ServerSocket> reserved = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            reserved.add(socket);
            ports.put("n" + i, socket.getLocalPort());
        }
        for (String from : ports.keySet()) {
            for (String to : ports.keySet()) {
                if (!from.equals(to)) {
                    links.add(new Link(from, to, ports.get(to), this::answered));
                }
            }
        }
        for (ServerSocket socket : reserved) {
            socket.close();
        }
    }

    /** Told of a COMPARE, TRUNCATE or APPEND that was answered by a follower, before the answer goes on. */
    void pushed(Link link, String kind) {
        // nothing to do
    }

    void start(String self) {
        StringBuilder peers = new StringBuilder();
        for (String peer : ports.keySet()) {
            int port = peer.equals(self) ? ports.get(self) : link(self, peer).port;
            peers.append(peers.length() == 0 ? "" : ";").append(peer).append("-127.0.0.1:").append(port);
        }
        DLedgerConfig config = new DLedgerConfig();
        config.group(GROUP).selfId(self).peers(peers.toString());
        config.setStoreBaseDir(folder.getPath());
        config.setStoreType(DLedgerConfig.FILE);
        config.setHeartBeatTimeIntervalMs(HEARTBEAT_MS);
        config.setMappedFileSizeForEntryData(DATA_FILE_SIZE);
        config.setMappedFileSizeForEntryIndex(INDEX_FILE_SIZE);
        DLedgerServer server = new DLedgerServer(config);
        server.startup();
        nodes.put(self, server);
    }

    void stop(String node) {
        isolate(node);
        nodes.get(node).shutdown();
        say(name(node) + " is stopped");
    }

    void isolate(String node) {
        links.stream().filter(x -> x.from.equals(node) || x.to.equals(node)).forEach(x -> x.cut(true));
    }

    void connect(Collection<String> some) {
        links.stream().filter(x -> some.contains(x.from) && some.contains(x.to)).forEach(x -> x.cut(false));
    }

    void between(String one, String other, boolean cut) {
        link(one, other).cut(cut);
        link(other, one).cut(cut);
    }

    Link link(String from, String to) {
        return links.stream().filter(x -> x.from.equals(from) && x.to.equals(to)).findFirst().orElseThrow();
    }

    private void answered(Link link, String kind, JSONObject request, JSONObject answer) {
        boolean told = kind.equals("COMPARE") || kind.equals("TRUNCATE") || kind.equals("APPEND");
        if (!told || answer.getIntValue("code") == DLedgerResponseCode.NOT_FOLLOWER.getCode()) {
            return;
        }
        if (tellsPushes) {
            tell(link, kind, request, answer);
        }
        pushed(link, kind);
    }

    private void tell(Link link, String kind, JSONObject request, JSONObject answer) {
        DLedgerResponseCode code = DLedgerResponseCode.valueOf(answer.getIntValue("code"));
        say("   " + name(link.from) + " -> " + name(link.to) + ": " + kind + " " + Link.about(request)
            + " | answer " + code.name() + " xTerm=" + answer.get("xTerm")
            + " xIndex=" + answer.get("xIndex") + " endIndex=" + answer.get("endIndex"));
    }

    /** Appends as a client of this node alone; returns the code of the answer. */
    int append(String node, String body) {
        DLedgerClient client = new DLedgerClient(GROUP, node + "-127.0.0.1:" + ports.get(node));
        client.startup();
        AppendEntryResponse answer = client.append(body.getBytes());
        client.shutdown();
        say("client: append " + body + " at " + name(node) + ": code " + answer.getCode() + " index "
            + answer.getIndex() + " term " + answer.getTerm());
        return answer.getCode();
    }

    /** Appends so many entries of this size at the leader itself, the next hundred when all before are acknowledged. */
    void appendMany(String node, int count, int size) throws Exception {
        List<CompletableFuture<AppendEntryResponse>> answers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            AppendEntryRequest request = new AppendEntryRequest();
            request.setGroup(GROUP);
            request.setRemoteId(node);
            request.setBody(new byte[size]);
            answers.add(nodes.get(node).handleAppend(request));
            if (answers.size() == 100 || i == count - 1) {
                for (CompletableFuture<AppendEntryResponse> answer : answers) {
                    require(answer.get().getCode() == 200, "an append is not acknowledged");
                }
                answers.clear();
            }
        }
    }

    String awaitLeader(Collection<String> among) {
        String[] leader = {null};
        await("a leader", () -> {
            leader[0] = null;
            int followers = 0;
            for (String node : among) {
                if (state(node).isLeader()) {
                    leader[0] = node;
                }
            }
            for (String node : among) {
                if (leader[0] != null && leader[0].equals(state(node).getLeaderId())
                    && state(node).currTerm() == state(leader[0]).currTerm()) {
                    followers++;
                }
            }
            return followers > ports.size() / 2;
        });
        return leader[0];
    }

    void await(String what, BooleanSupplier holds) {
        long until = System.currentTimeMillis() + PATIENCE_MS;
        while (!holds.getAsBoolean()) {
            require(System.currentTimeMillis() < until, "waited in vain: " + what);
            try {
                Thread.sleep(5);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }

    MemberState state(String node) {
        return nodes.get(node).getMemberState();
    }

    long end(String node) {
        return nodes.get(node).getDLedgerStore().getLedgerEndIndex();
    }

    List<DLedgerEntry> entries(String node) {
        List<DLedgerEntry> entries = new ArrayList<>();
        for (long i = 0; i <= end(node); i++) {
            entries.add(nodes.get(node).getDLedgerStore().get(i));
        }
        return entries;
    }

    boolean has(String node, String body) {
        return entries(node).stream().anyMatch(x -> new String(x.getBody()).equals(body));
    }

    void print() {
        for (String node : ports.keySet()) {
            StringBuilder log = new StringBuilder();
            for (DLedgerEntry entry : entries(node)) {
                log.append(" [").append(entry.getIndex()).append(", ").append(entry.getTerm()).append(", ")
                    .append(new String(entry.getBody())).append("]");
            }
            say("   " + name(node) + " " + state(node).getRole() + " term=" + state(node).currTerm() + " log:"
                + (log.length() == 0 ? " empty" : log) + "   (says in votes: end index "
                + state(node).getLedgerEndIndex() + " of term " + state(node).getLedgerEndTerm() + ")");
        }
    }

    static List<String> with(Collection<String> some, String more) {
        List<String> all = new ArrayList<>(some);
        all.add(more);
        return all;
    }

    String name(String node) {
        return roles.getOrDefault(node, "?") + "(" + node + ")";
    }

    String names(List<String> some) {
        StringBuilder names = new StringBuilder();
        some.forEach(x -> names.append(names.length() == 0 ? "" : ", ").append(name(x)));
        return names.toString();
    }

    void say(String what) {
        System.out.printf("%7.3f %s%n", (System.currentTimeMillis() - begun) / 1000.0, what);
    }
}
