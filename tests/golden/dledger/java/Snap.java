import io.openmessaging.storage.dledger.*;
import io.openmessaging.storage.dledger.exception.DLedgerException;
import io.openmessaging.storage.dledger.snapshot.*;
import io.openmessaging.storage.dledger.statemachine.*;
import java.nio.file.*;

/** As Node, with a state machine and snapshots. */
public class Snap {
    public static void main(String[] a) throws Exception {
        DLedgerConfig c = Node.config(a[0], 20931);
        c.setEnableSnapshot(true); c.setSnapshotThreshold(3); c.setEnableFastAdvanceCommitIndex(true);
        DLedgerServer s = new DLedgerServer(c);
        s.registerStateMachine(new StateMachine() {
            long sum = 0;
            public void onApply(ApplyEntryIterator it) { while (it.hasNext()) { it.next(); sum++; } }
            public boolean onSnapshotSave(SnapshotWriter w) {
                try { Files.write(Paths.get(w.getSnapshotStorePath(), SnapshotManager.SNAPSHOT_DATA_FILE), ("sum=" + sum).getBytes()); return true; } catch (Exception e) { e.printStackTrace(); return false; } }
            public boolean onSnapshotLoad(SnapshotReader r) { return true; }
            public void onShutdown() { }
            public void onError(DLedgerException e) { e.printStackTrace(); }
            public String getBindDLedgerId() { return null; }
        });
        s.startup(); Node.leader(s);
        for (String b : new String[]{"one", "two", "three", "four", "five"}) { Node.append(s, b.getBytes()); Thread.sleep(150); }
        Thread.sleep(500);
        s.shutdown();
        System.exit(0);
    }
}
