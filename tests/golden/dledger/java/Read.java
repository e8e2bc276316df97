import io.openmessaging.storage.dledger.*;
import io.openmessaging.storage.dledger.entry.DLedgerEntry;
import io.openmessaging.storage.dledger.store.DLedgerStore;

/** Starts one node on a folder, and prints what it reads there. */
public class Read {
    public static void main(String[] a) throws Exception {
        DLedgerConfig c = Node.config(a[0], Integer.parseInt(a[1]));
        DLedgerServer s = new DLedgerServer(c);
        s.startup();
        DLedgerStore store = (DLedgerStore) s.getClass().getMethod(name(s)).invoke(s);
        System.out.println("term " + s.getMemberState().currTerm() + " vote " + s.getMemberState().currVoteFor() + " end " + store.getLedgerEndIndex() + " of term " + store.getLedgerEndTerm());
        for (long i = Long.parseLong(a[2]); i <= store.getLedgerEndIndex(); i++) {
            DLedgerEntry e = store.get(i);
            System.out.println(e.getIndex() + " " + e.getTerm() + " " + e.getMagic() + " " + e.getPos() + " " + e.getChainCrc() + " " + e.getBodyCrc() + " " + new String(e.getBody()));
        }
        s.shutdown();
        System.exit(0);
    }

    /** The getter has another spelling in each release. */
    static String name(Object o) { for (java.lang.reflect.Method m : o.getClass().getMethods()) if (m.getName().equalsIgnoreCase("getDLedgerStore")) return m.getName(); return null; }
}
