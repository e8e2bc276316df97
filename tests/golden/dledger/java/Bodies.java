import com.alibaba.fastjson.JSON;
import io.openmessaging.storage.dledger.entry.DLedgerEntry;
import io.openmessaging.storage.dledger.protocol.*;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import java.nio.ByteBuffer;
import java.util.*;
import java.lang.reflect.*;

/** Writes lines: a class, a tab, and a body as JSON that fastjson makes of it; then two frames in hexadecimal digits. */
public class Bodies {
    static void set(Object o, Object... pairs) throws Exception {
        for (int i = 0; i < pairs.length; i += 2) {
            String n = (String) pairs[i];
            String m = "set" + Character.toUpperCase(n.charAt(0)) + n.substring(1);
            boolean done = false;
            for (Method x : o.getClass().getMethods())
                if (x.getName().equals(m) && x.getParameterCount() == 1) { x.invoke(o, pairs[i + 1]); done = true; }
            if (!done) throw new IllegalStateException(o.getClass() + " " + m);
        }
    }
    static void out(String name, Object o) { System.out.println(name + "\t" + new String(JSON.toJSONBytes(o), java.nio.charset.StandardCharsets.UTF_8)); }

    static <T extends RequestOrResponse> T base(T o) throws Exception {
        set(o, "group", "g", "remoteId", "n1", "localId", "n0", "leaderId", "n0", "term", 3L);
        return o;
    }
    static Object make(String cls) throws Exception { return Class.forName("io.openmessaging.storage.dledger.protocol." + cls).getDeclaredConstructor().newInstance(); }
    static DLedgerEntry entry(long index, byte[] body) {
        DLedgerEntry e = new DLedgerEntry();
        e.setMagic(1); e.setIndex(index); e.setTerm(2); e.setPos(index * 64); e.setBody(body);
        e.computeSizeInBytes();
        return e;
    }
    static byte[] bytes(String hex) { byte[] b = new byte[hex.length() / 2]; for (int i = 0; i < b.length; i++) b[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16); return b; }
    static boolean newer() { try { Class.forName("io.openmessaging.storage.dledger.protocol.InstallSnapshotRequest"); return true; } catch (Exception e) { return false; } }
    public static void main(String[] a) throws Exception {
        out("MetadataRequest", base(new MetadataRequest()));
        out("MetadataRequest", new MetadataRequest());
        MetadataResponse mr = base(new MetadataResponse());
        Map<String, String> peers = new HashMap<>(); peers.put("n0", "127.0.0.1:20911"); peers.put("n1", "127.0.0.1:20912"); peers.put("n10", "x:1"); mr.setPeers(peers);
        out("MetadataResponse", mr);
        out("MetadataResponse", new MetadataResponse());
        AppendEntryRequest ar = base(new AppendEntryRequest()); ar.setBody(bytes("00ff68656c6c6ffb"));
        out("AppendEntryRequest", ar);
        AppendEntryRequest ae = new AppendEntryRequest(); ae.setBody(new byte[0]); out("AppendEntryRequest", ae);
        AppendEntryResponse are = base(new AppendEntryResponse()); are.setIndex(7); are.setPos(448); out("AppendEntryResponse", are);
        out("AppendEntryResponse", new AppendEntryResponse());
        GetEntriesRequest gr = base(new GetEntriesRequest()); gr.setBeginIndex(5L); out("GetEntriesRequest", gr);
        gr.setIndexList(Arrays.asList(1L, 9223372036854775807L)); gr.setMaxSize(4096); out("GetEntriesRequest", gr);
        GetEntriesResponse ge = base(new GetEntriesResponse()); ge.setEntries(new ArrayList<>(Arrays.asList(entry(5, bytes("616263"))))); out("GetEntriesResponse", ge);
        out("GetEntriesResponse", new GetEntriesResponse());
        VoteRequest vr = base(new VoteRequest()); vr.setLedgerEndIndex(9); vr.setLedgerEndTerm(2); out("VoteRequest", vr);
        out("VoteRequest", new VoteRequest());
        VoteResponse vp = base(new VoteResponse()); vp.setVoteResult(VoteResponse.RESULT.ACCEPT); out("VoteResponse", vp);
        vp.setVoteResult(VoteResponse.RESULT.REJECT_TERM_NOT_READY); vp.setLeaderId(null); out("VoteResponse", vp);
        out("VoteResponse", new VoteResponse());
        out("HeartBeatRequest", base(new HeartBeatRequest()));
        out("HeartBeatResponse", base(new HeartBeatResponse()).code(409));
        PullEntriesRequest pr = base(new PullEntriesRequest()); pr.setNodeId("n1"); pr.setBeginIndex(5L); out("PullEntriesRequest", pr);
        out("PullEntriesRequest", new PullEntriesRequest());
        PullEntriesResponse pp = base(new PullEntriesResponse()); pp.setEntries(new ArrayList<>(Arrays.asList(entry(5, bytes("616263")), entry(6, new byte[0])))); out("PullEntriesResponse", pp);
        for (PushEntryRequest.Type t : PushEntryRequest.Type.values()) {
            PushEntryRequest p = base(new PushEntryRequest()); p.setType(t); p.setCommitIndex(4);
            if (newer()) set(p, "preLogIndex", 4L, "preLogTerm", 2L);
            if (t == PushEntryRequest.Type.APPEND) { p.addEntry(entry(5, bytes("616263"))); p.addEntry(entry(6, new byte[0])); }
            else if (!newer() && t != PushEntryRequest.Type.COMMIT) set(p, "entry", entry(5, bytes("616263")));
            out("PushEntryRequest", p);
        }
        if (!newer()) { PushEntryRequest p = base(new PushEntryRequest()); set(p, "entry", entry(5, bytes("616263"))); out("PushEntryRequest", p); }
        out("PushEntryRequest", new PushEntryRequest());
        PushEntryResponse ps = base(new PushEntryResponse()); ps.setIndex(5L); ps.setBeginIndex(0); ps.setEndIndex(5); ps.setCount(2);
        if (newer()) set(ps, "xTerm", 2L, "xIndex", 3L);
        out("PushEntryResponse", ps); out("PushEntryResponse", new PushEntryResponse());
        LeadershipTransferRequest lr = base(new LeadershipTransferRequest()); lr.setTransferId("n0"); lr.setTransfereeId("n1"); lr.setTakeLeadershipLedgerIndex(9); out("LeadershipTransferRequest", lr);
        out("LeadershipTransferRequest", new LeadershipTransferRequest());
        out("LeadershipTransferResponse", base(new LeadershipTransferResponse()).code(418));
        if (newer()) {
            Object ir = base((RequestOrResponse) make("InstallSnapshotRequest")); set(ir, "lastIncludedIndex", 9L, "lastIncludedTerm", 2L, "data", bytes("0001feff")); out("InstallSnapshotRequest", ir);
            out("InstallSnapshotResponse", base((RequestOrResponse) make("InstallSnapshotResponse")).code(422));
        }
        VoteRequest odd = new VoteRequest(); odd.setGroup("\u00e9/\"\\\n\u0001\u007f\u2028<\u4e16"); out("VoteRequest", odd);
        RemotingCommand c = RemotingCommand.createRequestCommand(51001, null); c.setOpaque(7); c.setBody(JSON.toJSONBytes(vr)); hex("frame.request", c);
        RemotingCommand r = RemotingCommand.createResponseCommand(200, null); r.setOpaque(7); r.markResponseType(); r.setBody(JSON.toJSONBytes(vp)); hex("frame.response", r);
    }
    static void hex(String n, RemotingCommand c) { ByteBuffer b = c.encode(); StringBuilder s = new StringBuilder(); while (b.hasRemaining()) s.append(String.format("%02x", b.get())); System.out.println(n + "\t" + s); }
}
