import io.openmessaging.storage.dledger.*;
import io.openmessaging.storage.dledger.protocol.*;
import java.util.*;

/** One node of a group of one: appends bodies in several terms, and stops. */
public class Node {
    static DLedgerConfig config(String dir, int port) {
        DLedgerConfig c = new DLedgerConfig();
        c.setStoreBaseDir(dir); c.setGroup("g"); c.setSelfId("n0"); c.setPeers("n0-127.0.0.1:" + port);
        c.setMappedFileSizeForEntryData(512); c.setMappedFileSizeForEntryIndex(32 * 8);
        c.setEnableDiskForceClean(false); c.setDiskSpaceRatioToForceClean(0.99f); c.setDiskSpaceRatioToCheckExpired(0.99f);
        c.setMinVoteIntervalMs(50); c.setMaxVoteIntervalMs(100);
        return c;
    }
    static long append(DLedgerServer s, byte[] body) throws Exception {
        AppendEntryRequest r = new AppendEntryRequest(); r.setGroup("g"); r.setRemoteId("n0"); r.setBody(body);
        AppendEntryResponse a = s.handleAppend(r).get();
        System.err.println(a.getCode() + " " + a.getIndex() + " " + a.getPos());
        return a.getIndex();
    }
    static void leader(DLedgerServer s) throws Exception { for (int i = 0; i < 200 && !s.getMemberState().isLeader(); i++) Thread.sleep(50); Thread.sleep(200); }
    public static void main(String[] a) throws Exception {
        int port = 20911;
        String[][] bodies = {{"hello", "", "a body of its own length", "x"}, {"second term", "0123456789012345678901234567890123456789", "fills the file", "in the second file", "end"}};
        for (String[] term : bodies) {
            DLedgerServer s = new DLedgerServer(config(a[0], port++));
            s.startup(); leader(s);
            for (String b : term) append(s, b.getBytes());
            Thread.sleep(300);
            s.shutdown();
            if (port == 20912)
                java.nio.file.Files.write(java.nio.file.Paths.get(a[0], "dledger-n0", "currterm"), "currTerm=4\nvoteLeader=\ncrc32=1234567890\n".getBytes());
        }
        System.exit(0);
    }
}
