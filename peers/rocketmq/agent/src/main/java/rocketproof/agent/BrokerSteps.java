package rocketproof.agent;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The steps of a broker whose log follows epochs.
 *
 * <p>A step shows only the parts that its own thread has changed: other threads are in the midst of theirs. What
 * was appended to a master's log is noticed at its next step, at the latest when it waits for its slaves.
 */
final class BrokerSteps {
    private static final String HA = "org.apache.rocketmq.store.ha.autoswitch.AutoSwitch";
    private static final String SERVICE = HA + "HAService";
    private static final String CLIENT = HA + "HAClient";
    private static final String CONNECTION = HA + "HAConnection";
    private static final String WRITER = CONNECTION + "$AbstractWriteSocketService";
    private static final String ANY_SERVICE = "org.apache.rocketmq.store.ha.DefaultHAService";
    private static final String STORE = "org.apache.rocketmq.store.DefaultMessageStore";
    private static final String COMMIT_LOG = "org.apache.rocketmq.store.CommitLog";
    private static final long NOT_YET = -1;
    private static final int EPOCH_AT = 16;
    private static final String THREAD = "AutoSwitchHAClient";

    private final Options options;
    private final Records records;
    private final SlaveEnd slaveEnd = new SlaveEnd();
    private final Map<Long, Map<String, Object>> servers = new TreeMap<>();
    private final Map<String, Long> packets = new LinkedHashMap<>();
    private Object service;
    private Object store;
    private StoredLog log;
    private boolean isStarted;
    private boolean isMaster;

    BrokerSteps(Options options, Records records) {
        this.options = options;
        this.records = records;
    }

    void register(Hooks hooks) {
        hooks.exit(SERVICE, "init", (self, arguments, result) -> {
            service = self;
            store = arguments[0];
            log = new StoredLog(store);
        });
        hooks.enter(ANY_SERVICE, "start", (self, arguments, result) -> started(self));
        hooks.exit(SERVICE, "changeToMaster", (self, arguments, result) -> becameMaster(arguments[0], result, false));
        hooks.exit(SERVICE, "changeToMasterWhenLastRoleIsMaster",
            (self, arguments, result) -> becameMaster(arguments[0], result, true));
        hooks.exit(SERVICE, "changeToSlave", (self, arguments, result) -> becameSlave(arguments[1], result));
        hooks.exit(SERVICE, "changeToSlaveWhenMasterNotChange",
            (self, arguments, result) -> heardEpoch(arguments[1], result));
        hooks.exit(SERVICE, "removeConnection", (self, arguments, result) -> connectionRemoved(arguments[0]));
        hooks.enter(COMMIT_LOG, "handleDiskFlushAndHA", (self, arguments, result) -> catchUp());
        hooks.exit(WRITER, "buildHandshakeBuffer", (self, arguments, result) -> answersHandshake(self));
        hooks.exit(WRITER, "buildTransferHeaderBuffer", (self, arguments, result) ->
            transfers(self, ((Number) arguments[0]).longValue(), ((Number) arguments[1]).intValue()));
        hooks.enter(CONNECTION, "maybeExpandInSyncStateSet", (self, arguments, result) -> receivedReport(self));
        slaveEnd.register(hooks);
    }

    // ---- any broker ----

    boolean isUnderControllers() {
        return service != null;
    }

    private void started(Object self) throws Exception {
        if (self != service) {
            return;
        }
        log.read();
        isStarted = true;
        showAll(records.step("NodeStarted", null), true).shows("role", "Slave").shows("client", null)
            .shows("servers", Collections.emptyList()).write();
        if (options.incarnation > 1) {
            records.step("Restart").write();
        }
    }

    private void becameMaster(Object epoch, Object isDone, boolean keepsConnections) throws Exception {
        if (!Boolean.TRUE.equals(isDone)) {
            return;
        }
        if (!keepsConnections) {
            servers.clear();
        }
        catchUp();
        isMaster = true;
        showAll(records.step("BecomeMaster"), false).param("master_epoch", epoch).shows("role", "Master")
            .shows("client", null).shows("servers", servers()).write();
    }

    private void becameSlave(Object epoch, Object isDone) throws Exception {
        if (!Boolean.TRUE.equals(isDone)) {
            return;
        }
        catchUp();
        isMaster = false;
        servers.clear();
        slaveEnd.forget();
        showAll(records.step("BecomeSlave"), false).param("master_epoch", epoch).shows("role", "Slave")
            .shows("client", null).shows("servers", servers()).write();
    }

    private void heardEpoch(Object epoch, Object isDone) throws Exception {
        if (Boolean.TRUE.equals(isDone)) {
            records.step("LearnEpoch").param("master_epoch", epoch).write();
        }
    }

    /** Show epochs and log; `log` as a whole, or what of it has changed. */
    private Records.Step showAll(Records.Step step, boolean isWhole) throws Exception {
        showLog(step, isWhole);
        return step.shows("epochs", epochs()).shows("epoch_file", epochFile());
    }

    private void showLog(Records.Step step, boolean isWhole) throws Exception {
        if (isWhole) {
            step.changed("log", 0, new StoredLog(store).read().added);
            return;
        }
        int before = log.size();
        StoredLog.Change change = log.read();
        if (!change.isNone(before)) {
            step.changed("log", change.kept, change.added);
        }
    }

    /** Write a step for each message that a master has taken since the last one. */
    void catchUp() throws Exception {
        if (!isMaster) {
            return;
        }
        int before = log.size();
        StoredLog.Change change = log.read();
        int kept = change.kept;
        if (kept < before) {
            records.step("LogCut", null).changed("log", kept, Collections.emptyList()).write();
        }
        for (Map<String, Object> item : change.added) {
            records.step("PutMessage").changed("log", kept++, Collections.singletonList(item)).write();
        }
    }

    private List<Object> epochs() throws Exception {
        List<Object> entries = new ArrayList<>();
        for (Object entry : (Collection<?>) Inside.call(Inside.field(service, "epochCache"), "getAllEntries")) {
            entries.add(entry(
                Inside.asked(entry, "getEpoch"),
                Inside.asked(entry, "getStartOffset"),
                Inside.asked(entry, "getEndOffset")));
        }
        return entries;
    }

    /** Read the file as a broker that starts now would: CheckpointFile. */
    private List<Object> epochFile() throws Exception {
        Object config = Inside.call(store, "getMessageStoreConfig");
        Path file = Paths.get((String) Inside.call(config, "getStorePathEpochFile"));
        List<String> lines;
        try {
            lines = Files.readAllLines(file, StandardCharsets.UTF_8);
        } catch (NoSuchFileException none) {
            return Collections.emptyList();
        }
        List<long[]> starts = new ArrayList<>();
        for (String line : lines.subList(Math.min(2, lines.size()), lines.size())) {
            String[] numbers = line.split("-");
            starts.add(new long[] {Long.parseLong(numbers[0]), Long.parseLong(numbers[1])});
        }
        List<Object> entries = new ArrayList<>();
        for (int i = 0; i < starts.size(); i++) {
            long end = i + 1 < starts.size() ? starts.get(i + 1)[1] : Long.MAX_VALUE;
            entries.add(entry(starts.get(i)[0], starts.get(i)[1], end));
        }
        return entries;
    }

    private static Map<String, Object> entry(long epoch, long start, long end) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("epoch", epoch);
        entry.put("start_offset", start);
        entry.put("end_offset", end);
        return entry;
    }

    /** Return the name of the next packet of this kind on a connection, as both ends count it. */
    private String packet(long connection, String kind) {
        String key = "ha-" + connection + ':' + kind;
        return key + ':' + packets.merge(key, 1L, Long::sum);
    }

    // ---- a master's ends of connections ----

    private List<Object> servers() {
        List<Object> shown = new ArrayList<>();
        servers.forEach((port, end) -> shown.add(Arrays.asList(port, end)));
        return shown;
    }

    private static Map<String, Object> server(Object connection, long ack) throws Exception {
        Map<String, Object> server = new LinkedHashMap<>();
        server.put("slave", Inside.field(connection, "slaveId"));
        server.put("slave_ack", ack);
        return server;
    }

    private static long port(Object connection) throws Exception {
        String address = (String) Inside.field(connection, "clientAddress");
        return Long.parseLong(address.substring(address.lastIndexOf(':') + 1));
    }

    private void answersHandshake(Object writer) throws Exception {
        long port = port(Inside.field(writer, "this$0"));
        catchUp();
        servers.put(port, server(Inside.field(writer, "this$0"), NOT_YET));
        records.step("Handshake").param("conn", port).param("epoch", epochInHeader(writer)).shows("servers", servers())
            .receives(packet(port, "handshake")).sends(packet(port, "answer"), null).write();
    }

    private void transfers(Object writer, long offset, int size) throws Exception {
        long port = port(Inside.field(writer, "this$0"));
        catchUp();
        records.step("Transfer").param("conn", port).param("offset", Math.max(offset, 0)).param("size", size)
            .param("epoch", epochInHeader(writer)).sends(packet(port, "batch"), null).write();
    }

    private static int epochInHeader(Object writer) throws Exception {
        return ((ByteBuffer) Inside.field(writer, "byteBufferHeader")).duplicate().getInt(EPOCH_AT);
    }

    private void receivedReport(Object connection) throws Exception {
        long port = port(connection);
        long offset = Inside.number(connection, "slaveAckOffset");
        catchUp();
        servers.put(port, server(connection, offset));
        records.step("ReceiveAck").param("conn", port).param("slave", Inside.field(connection, "slaveId"))
            .param("offset", offset).shows("servers", servers()).receives(packet(port, "report")).write();
    }

    private void connectionRemoved(Object connection) throws Exception {
        if (servers.remove(port(connection)) != null) {
            catchUp();
            records.step("ConnectionRemoved", null).shows("servers", servers()).write();
        }
    }

    /** The slave's end of its connection, whose thread does one thing after the other. */
    private final class SlaveEnd {
        private long port = NOT_YET;
        private Records.Step pending;

        void register(Hooks hooks) {
            hooks.enter(CLIENT, "connectMaster", (self, arguments, result) -> closed(self));
            hooks.exit(CLIENT, "connectMaster", (self, arguments, result) -> connected(self));
            hooks.enter(CLIENT, "sendHandshakeHeader", (self, arguments, result) -> asksHandshake());
            hooks.enter(CLIENT, "doTruncate", (self, arguments, result) -> begins("ReceiveHandshake", "answer"));
            hooks.exit(CLIENT, "doTruncate", (self, arguments, result) -> truncated(self, result));
            hooks.exit(STORE, "setConfirmOffset", (self, arguments, result) -> appended());
            hooks.enter(CLIENT, "reportSlaveOffset", (self, arguments, result) -> reports(self));
            hooks.exit(CLIENT, "reportSlaveMaxOffset", (self, arguments, result) -> ends(self));
            hooks.exit(CLIENT, "closeMaster", (self, arguments, result) -> closed(self));
        }

        void forget() {
            port = NOT_YET;
            pending = null;
        }

        private void connected(Object client) throws Exception {
            Object channel = Inside.field(client, "socketChannel");
            if (channel == null || port != NOT_YET || !isStarted) {
                return;
            }
            String address = String.valueOf(((java.nio.channels.SocketChannel) channel).getLocalAddress());
            port = Long.parseLong(address.substring(address.lastIndexOf(':') + 1));
            records.step("Connected", null).shows("client", end("Handshake", NOT_YET)).write();
        }

        private void asksHandshake() throws Exception {
            if (port != NOT_YET) {
                records.step("HandshakeSent", null).sends(packet(port, "handshake"), null).write();
            }
        }

        private void begins(String action, String packet) {
            if (port != NOT_YET) {
                pending = records.step(action).receives(packet(port, packet));
            }
        }

        private void truncated(Object client, Object isDone) throws Exception {
            if (Boolean.TRUE.equals(isDone)) {
                ends(client);
            } else if (pending != null) {
                pending = null;
                records.step("HandshakeRefused", null).write();
            }
        }

        private void appended() {
            if (Thread.currentThread().getName().endsWith(THREAD)) {
                begins("ReceiveTransfer", "batch");
            }
        }

        /** A report leaves: the last thing of the step under way, or one of the timer's. */
        private void reports(Object client) throws Exception {
            if (port == NOT_YET) {
                return;
            }
            String report = packet(port, "report");
            if (pending == null) {
                records.step("OffsetReported", null).sends(report, null).write();
            } else {
                pending.sends(report, null);
                ends(client);
            }
        }

        private void ends(Object client) throws Exception {
            if (pending != null) {
                Records.Step step = pending;
                pending = null;
                long reported = Inside.number(client, "currentReportedOffset");
                showAll(step, false).shows("client", end("Transfer", reported)).write();
            }
        }

        private void closed(Object client) throws Exception {
            if (port != NOT_YET && Inside.field(client, "socketChannel") == null) {
                forget();
                records.step("Disconnect").shows("client", null).write();
            }
        }

        private Map<String, Object> end(String phase, long reported) {
            Map<String, Object> end = new LinkedHashMap<>();
            end.put("id", port);
            end.put("phase", phase);
            end.put("reported", reported);
            return end;
        }
    }
}
