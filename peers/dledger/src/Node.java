import io.netty.bootstrap.ServerBootstrap;
import io.openmessaging.storage.dledger.DLedgerConfig;
import io.openmessaging.storage.dledger.DLedgerServer;
import io.openmessaging.storage.dledger.entry.DLedgerEntry;
import io.openmessaging.storage.dledger.store.DLedgerStore;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Base64;

/**
 * A DLedger server as a process of its own, or what is in its files.
 *
 * Usage: Node (serve|dump) SELF PEERS STORE HEARTBEAT_MS MIN_VOTE_MS MAX_VOTE_MS DATA_FILE INDEX_FILE
 *
 * It listens on loopback, which these releases have no setting for, and ends with its standard input. `dump` prints
 * a line for each entry: index, term, pos, body in base64. It recovers the files as a start does, and
 * expects that none were deleted.
 */
public final class Node {
    private Node() {
    }

    /** Listens on loopback, whatever it is told. */
    private static final class OnLoopback extends ServerBootstrap {
        @Override
        public ServerBootstrap localAddress(SocketAddress address) {
            int port = ((InetSocketAddress) address).getPort();
            return super.localAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        }
    }

    public static void main(String[] args) throws Exception {
        DLedgerConfig config = new DLedgerConfig();
        config.group("g").selfId(args[1]).peers(args[2]);
        config.setStoreBaseDir(args[3]);
        config.setStoreType(DLedgerConfig.FILE);
        config.setHeartBeatTimeIntervalMs(Integer.parseInt(args[4]));
        config.setMinVoteIntervalMs(Integer.parseInt(args[5]));
        config.setMaxVoteIntervalMs(Integer.parseInt(args[6]));
        config.setMappedFileSizeForEntryData(Integer.parseInt(args[7]));
        config.setMappedFileSizeForEntryIndex(Integer.parseInt(args[8]));
        config.setEnableDiskForceClean(false);
        config.setDiskSpaceRatioToCheckExpired(0.99f);
        config.setDiskSpaceRatioToForceClean(0.99f);
        DLedgerServer server = new DLedgerServer(config);
        if (args[0].equals("dump")) {
            dump(server.getDLedgerStore());
            System.exit(0);
        }
        listenOnLoopback(server);
        server.startup();
        System.out.println("serves");
        while (System.in.read() >= 0) {
            // nothing is said to it
        }
        System.exit(0);
    }

    private static void listenOnLoopback(DLedgerServer server) throws ReflectiveOperationException {
        Object remoting = field(server, "dLedgerRpcService");
        Object netty = field(remoting, "remotingServer");
        Field bootstrap = netty.getClass().getDeclaredField("serverBootstrap");
        bootstrap.setAccessible(true);
        bootstrap.set(netty, new OnLoopback());
    }

    private static Object field(Object of, String name) throws ReflectiveOperationException {
        Field field = of.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    private static void dump(DLedgerStore store) {
        store.startup();
        for (long i = 0; i <= store.getLedgerEndIndex(); i++) {
            DLedgerEntry entry = store.get(i);
            System.out.println("entry " + entry.getIndex() + " " + entry.getTerm() + " " + entry.getPos() + " "
                + Base64.getEncoder().encodeToString(entry.getBody()));
        }
        System.out.println("end");
    }
}
