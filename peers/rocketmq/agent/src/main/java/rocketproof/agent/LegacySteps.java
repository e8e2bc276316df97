package rocketproof.agent;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The steps of a broker without controllers: a master for ever, or its slave.
 *
 * <p>What was appended to the master's log, and what slaves have reported, is noticed at the next step that may
 * follow from it, at the latest when a producer is answered.
 */
final class LegacySteps {
    private static final String HA = "org.apache.rocketmq.store.ha.DefaultHA";
    private static final String SERVICE = HA + "Service";
    private static final String CLIENT = HA + "Client";
    private static final String CONNECTION = HA + "Connection";
    private static final String STORE = "org.apache.rocketmq.store.DefaultMessageStore";
    private static final String COMMIT_LOG = "org.apache.rocketmq.store.CommitLog";
    private static final String FILES = "org.apache.rocketmq.store.MappedFileQueue";
    private static final String THREAD = "DefaultHAClient";
    private static final int REPORT_BYTES = 8;
    private static final long NOT_YET = -1;

    private final Options options;
    private final Records records;
    private final SlaveEnd slaveEnd = new SlaveEnd();
    private final Map<Long, MasterEnd> ends = new TreeMap<>();
    private final Map<Thread, Object> readers = new HashMap<>();
    private final Map<Long, Map<String, Object>> waiting = new TreeMap<>();
    private final Map<String, Long> packets = new HashMap<>();
    private Object service;
    private Object store;
    private Object files;
    private StoredLog log;
    private boolean isMaster;
    private boolean isStarted;
    private int need;

    LegacySteps(Options options, Records records) {
        this.options = options;
        this.records = records;
    }

    void register(Hooks hooks) {
        hooks.exit(SERVICE, "init", (self, arguments, result) -> begins(self, arguments[0]));
        hooks.enter(SERVICE, "start", (self, arguments, result) -> started(self));
        hooks.exit(FILES, "flush", (self, arguments, result) -> flushed(self));
        hooks.enter(COMMIT_LOG, "handleDiskFlushAndHA", (self, arguments, result) ->
            puts(((Number) arguments[2]).intValue(), Boolean.TRUE.equals(arguments[3])));
        hooks.enter(COMMIT_LOG + "$GroupCommitRequest", "wakeupCustomer", (self, arguments, result) ->
            answers(Inside.number(self, "nextOffset"), String.valueOf(arguments[0])));
        hooks.enter(SERVICE, "addConnection", (self, arguments, result) -> accepts(self, arguments[0]));
        hooks.exit(SERVICE, "removeConnection", (self, arguments, result) -> removes(arguments[0]));
        hooks.enter(CONNECTION + "$ReadSocketService", "processReadEvent", (self, arguments, result) ->
            readers.put(Thread.currentThread(), self));
        hooks.enter(SERVICE, "notifyTransferSome", (self, arguments, result) -> receives());
        hooks.enter(CONNECTION + "$WriteSocketService", "transferData", (self, arguments, result) -> transfers(self));
        slaveEnd.register(hooks);
    }

    // ---- any broker ----

    private void begins(Object self, Object messageStore) throws Exception {
        if (!self.getClass().getName().equals(SERVICE)) {
            return;
        }
        service = self;
        store = messageStore;
        log = new StoredLog(store);
        Object config = Inside.call(store, "getMessageStoreConfig");
        String role = String.valueOf(Inside.call(config, "getBrokerRole"));
        isMaster = !role.equals("SLAVE");
        need = role.equals("SYNC_MASTER") ? (int) Math.max(Inside.asked(config, "getInSyncReplicas") - 1, 0) : 0;
    }

    private void started(Object self) throws Exception {
        if (service == null || self != service) {
            return;
        }
        log.read();
        files = Inside.field(Inside.call(store, "getCommitLog"), "mappedFileQueue");
        isStarted = true;
        Records.Step step = records.step("NodeStarted", null).shows("begin", log.begin())
            .changed("log", 0, new StoredLog(store).read().added)
            .shows("flushed_offset", Inside.asked(files, "getFlushedWhere"));
        if (isMaster) {
            step.shows("waiting", waiting()).shows("ends", ends());
        } else {
            step.shows("client", null);
        }
        step.write();
        if (options.incarnation > 1) {
            records.step("Restart").write();
        }
    }

    private void flushed(Object self) throws Exception {
        if (!isStarted || self != files) {
            return;
        }
        catchUp();
        Records.Step step = records.step("Flush").shows("flushed_offset", Inside.asked(files, "getFlushedWhere"));
        if (step.showsSomething()) {
            step.write();
        }
    }

    /** Return the name of the next packet of this kind on a connection, as both ends count it. */
    private String packet(long connection, String kind) {
        String key = "ha-" + connection + ':' + kind;
        return key + ':' + packets.merge(key, 1L, Long::sum);
    }

    // ---- a master ----

    /** Write a step for each message that the master has taken since the last one. */
    private void catchUp() throws Exception {
        if (!isStarted || !isMaster) {
            return;
        }
        StoredLog.Change change = log.read();
        int kept = change.kept;
        for (Map<String, Object> item : change.added) {
            long end = ((Number) item.get("end")).longValue();
            long offset = log.beginOf(end);
            if (need > 0) {
                Map<String, Object> put = new LinkedHashMap<>();
                put.put("put", offset);
                put.put("offset", offset);
                put.put("need", need);
                waiting.put(end, put);
            }
            records.step("PutMessage").param("offset", offset).param("need", need)
                .changed("log", kept++, Collections.singletonList(item)).shows("waiting", waiting()).write();
        }
    }

    private void puts(int replicas, boolean waits) throws Exception {
        if (!isStarted || !isMaster) {
            return;
        }
        catchUp();
        int asked = waits ? Math.max(replicas - 1, 0) : 0;
        if (asked != need) {
            throw new IllegalStateException("a message waits for " + asked + " slaves, not for " + need);
        }
    }

    private void answers(long end, String status) throws Exception {
        if (!isStarted || !isMaster) {
            return;
        }
        catchUp();
        catchUpReports();
        Map<String, Object> put = waiting.remove(end);
        if (put == null) {
            return;
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("is", "AnswerPut");
        answer.put("put", put.get("put"));
        answer.put("status", status);
        records.step("PUT_OK".equals(status) ? "PutOk" : "PutTimeout").param("offset", put.get("offset"))
            .shows("waiting", waiting()).answers(answer).write();
    }

    private List<Object> waiting() {
        return new ArrayList<>(waiting.values());
    }

    // ---- a master's ends of connections ----

    private static final class MasterEnd {
        private final Object connection;
        private long ack = NOT_YET;
        private Long next;
        private int processed;
        private String lastReport;

        private MasterEnd(Object connection) {
            this.connection = connection;
        }
    }

    private List<Object> ends() {
        List<Object> shown = new ArrayList<>();
        ends.forEach((port, end) -> {
            Map<String, Object> said = new LinkedHashMap<>();
            said.put("slave_ack", end.ack);
            said.put("next_offset", end.next);
            shown.add(Arrays.asList(port, said));
        });
        return shown;
    }

    private static long port(Object connection) throws Exception {
        String address = (String) Inside.field(connection, "clientAddress");
        return Long.parseLong(address.substring(address.lastIndexOf(':') + 1));
    }

    private void accepts(Object self, Object connection) throws Exception {
        if (self == service && isStarted) {
            catchUp();
            ends.put(port(connection), new MasterEnd(connection));
            records.step("ConnectionAccepted", null).shows("ends", ends()).write();
        }
    }

    private void removes(Object connection) throws Exception {
        if (!connection.getClass().getName().equals(CONNECTION) || !ends.containsKey(port(connection))) {
            return;
        }
        catchUp();
        ends.remove(port(connection));
        records.step("ConnectionRemoved", null).shows("ends", ends()).write();
    }

    private void receives() throws Exception {
        Object reader = readers.get(Thread.currentThread());
        if (reader != null) {
            catchUp();
            received(port(Inside.field(reader, "this$0")));
        }
    }

    /** Write what was reported since; a producer may be answered before the thread that read it goes on. */
    private void catchUpReports() throws Exception {
        for (long port : new ArrayList<>(ends.keySet())) {
            MasterEnd end = ends.get(port);
            if (Inside.number(end.connection, "slaveAckOffset") != end.ack) {
                received(port);
            }
        }
    }

    /** Several reports that were read at once are one: the last. */
    private void received(long port) throws Exception {
        MasterEnd end = ends.get(port);
        if (end == null) {
            return;
        }
        long ack = Inside.number(end.connection, "slaveAckOffset");
        int processed = (int) Inside.number(Inside.field(end.connection, "readSocketService"), "processPosition");
        int from = processed < end.processed ? 0 : end.processed;
        if (processed == from && ack == end.ack) {
            return;
        }
        Records.Step step = records.step("ReceiveReport").param("conn", port).param("offset", ack);
        if (processed == from && end.lastReport != null) {
            step.receives(end.lastReport);
        }
        for (; from < processed; from += REPORT_BYTES) {
            end.lastReport = packet(port, "report");
            step.receives(end.lastReport);
        }
        end.processed = processed;
        end.ack = ack;
        step.shows("ends", ends()).write();
    }

    private void transfers(Object writer) throws Exception {
        Object connection = Inside.field(writer, "this$0");
        MasterEnd end = ends.get(port(connection));
        if (end == null || !Boolean.TRUE.equals(Inside.field(writer, "lastWriteOver"))) {
            return;  // it goes on with the packet before
        }
        catchUp();
        java.nio.ByteBuffer header = ((java.nio.ByteBuffer) Inside.field(writer, "byteBufferHeader")).duplicate();
        long offset = header.getLong(0);
        int size = header.getInt(REPORT_BYTES);
        end.next = offset + size;
        long port = port(connection);
        records.step("Transfer").param("conn", port).param("offset", offset).param("size", size)
            .shows("ends", ends()).sends(packet(port, "batch"), null).write();
    }

    /** The slave's end of its connection, whose thread does one thing after the other. */
    private final class SlaveEnd {
        private long port = NOT_YET;
        private long reported = NOT_YET;
        private Records.Step pending;

        void register(Hooks hooks) {
            hooks.enter(CLIENT, "connectMaster", (self, arguments, result) -> closed(self));
            hooks.exit(CLIENT, "connectMaster", (self, arguments, result) -> connected(self));
            hooks.exit(CLIENT, "closeMaster", (self, arguments, result) -> closed(self));
            hooks.exit(STORE, "appendToCommitLog", (self, arguments, result) -> appended());
            hooks.enter(CLIENT, "reportSlaveMaxOffset", (self, arguments, result) ->
                reports(((Number) arguments[0]).longValue()));
            hooks.exit(CLIENT, "reportSlaveMaxOffsetPlus", (self, arguments, result) -> ends());
        }

        private void connected(Object client) throws Exception {
            Object channel = Inside.field(client, "socketChannel");
            if (channel == null || port != NOT_YET || !isStarted) {
                return;
            }
            String address = String.valueOf(((java.nio.channels.SocketChannel) channel).getLocalAddress());
            port = Long.parseLong(address.substring(address.lastIndexOf(':') + 1));
            reported = NOT_YET;
            records.step("Connected", null).write();
        }

        private void appended() {
            if (port != NOT_YET && Thread.currentThread().getName().endsWith(THREAD)) {
                pending = records.step("ReceiveTransfer").param("conn", port).receives(packet(port, "batch"));
            }
        }

        /** A report leaves: the first of a connection, the last thing of a step, or one of the timer's. */
        private void reports(long offset) throws Exception {
            if (port == NOT_YET) {
                return;
            }
            Records.Step step = pending;
            pending = null;
            if (step == null) {
                step = reported == NOT_YET ? records.step("Connect") : records.step("OffsetReported", null);
                step.param("conn", port).param("offset", offset);
            }
            reported = offset;
            write(step.sends(packet(port, "report"), null));
        }

        private void ends() throws Exception {
            if (pending != null) {
                Records.Step step = pending;
                pending = null;
                write(step);
            }
        }

        private void write(Records.Step step) throws Exception {
            int before = log.size();
            StoredLog.Change change = log.read();
            if (!change.isNone(before)) {
                step.shows("begin", log.begin()).changed("log", change.kept, change.added);
            }
            Map<String, Object> end = new LinkedHashMap<>();
            end.put("id", port);
            end.put("reported", reported);
            step.shows("client", end).write();
        }

        private void closed(Object client) throws Exception {
            if (port == NOT_YET || Inside.field(client, "socketChannel") != null) {
                return;
            }
            ends();
            port = NOT_YET;
            records.step("Disconnect").shows("client", null).write();
        }
    }
}
