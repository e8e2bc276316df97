import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The TCP way on which one node sends requests to another, and gets the answers. It forwards whole frames of
 * RocketMQ's remoting as they are. It can be cut, can lose requests of some kinds,
 * and can bring one request late.
 */
final class Link {
    interface Watcher {
        /** Called before the answer goes on. */
        void answered(Link link, String kind, JSONObject request, JSONObject answer);
    }

    final String from;
    final String to;
    final int port;
    volatile boolean cut;
    volatile Set<String> lost = Set.of();
    /** The next request of this kind is late: it goes on when release() is called. */
    volatile String late = "";
    private volatile Runnable release;

    private final ServerSocket listener;
    private final int target;
    private final Watcher watcher;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

    Link(String from, String to, int target, Watcher watcher) throws IOException {
        this.from = from;
        this.to = to;
        this.target = target;
        this.watcher = watcher;
        this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        this.port = listener.getLocalPort();
        daemon(this::accept);
    }

    void cut(boolean on) {
        cut = on;
        if (on) {
            sockets.forEach(Link::close);
        }
    }

    private void accept() {
        while (!listener.isClosed()) {
            Socket near = null;
            try {
                near = listener.accept();
                if (cut) {
                    close(near);
                    continue;
                }
                Socket far = new Socket(InetAddress.getLoopbackAddress(), target);
                sockets.add(near);
                sockets.add(far);
                if (cut) {
                    cut(true);
                }
                Map<Integer, JSONObject> open = new ConcurrentHashMap<>();
                Socket client = near;
                daemon(() -> pump(client, far, open, true));
                daemon(() -> pump(far, client, open, false));
            } catch (IOException nobodyThere) {
                close(near);
            }
        }
    }

    private void pump(Socket in, Socket out, Map<Integer, JSONObject> open, boolean requests) {
        try {
            DataInputStream source = new DataInputStream(in.getInputStream());
            DataOutputStream sink = new DataOutputStream(out.getOutputStream());
            while (true) {
                byte[] frame = new byte[source.readInt()];
                source.readFully(frame);
                if (!passes(frame, open, requests) || cut) {
                    continue;
                }
                if (requests && held(frame)) {
                    release = () -> send(frame, sink);
                } else {
                    send(frame, sink);
                }
            }
        } catch (IOException closed) {
            close(in);
            close(out);
            sockets.remove(in);
            sockets.remove(out);
        }
    }

    void release() {
        release.run();
    }

    private boolean held(byte[] frame) {
        boolean held = !late.isEmpty() && new String(frame).contains("\"type\":\"" + late + "\"");
        late = held ? "" : late;
        return held;
    }

    private static void send(byte[] frame, DataOutputStream sink) {
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        try {
            DataOutputStream head = new DataOutputStream(whole);
            head.writeInt(frame.length);
            head.write(frame);
            synchronized (sink) {
                sink.write(whole.toByteArray());
                sink.flush();
            }
        } catch (IOException closed) {
            // as if it were lost
        }
    }

    private boolean passes(byte[] frame, Map<Integer, JSONObject> open, boolean requests) {
        int headerSize = ((frame[1] & 0xff) << 16) | ((frame[2] & 0xff) << 8) | (frame[3] & 0xff);
        JSONObject header = JSON.parseObject(new String(frame, 4, headerSize));
        int bodyAt = 4 + headerSize;
        JSONObject body = bodyAt == frame.length ? new JSONObject()
            : JSON.parseObject(new String(frame, bodyAt, frame.length - bodyAt));
        int opaque = header.getIntValue("opaque");
        if (requests) {
            body.put("kind", kind(header.getIntValue("code"), body));
            if (lost.contains(body.getString("kind"))) {
                return false;
            }
            open.put(opaque, body);
            return true;
        }
        JSONObject request = open.remove(opaque);
        if (request != null && !cut) {
            watcher.answered(this, request.getString("kind"), request, body);
        }
        return true;
    }

    private static String kind(int code, JSONObject body) {
        switch (code) {
            case 51001: return "VOTE";
            case 51002: return "HEART_BEAT";
            case 51004: return body.getString("type");
            default: return "code " + code;
        }
    }

    /** What a COMPARE, TRUNCATE or APPEND is about: 0.3 sends an entry, 0.4 an index and its term. */
    static String about(JSONObject request) {
        JSONObject entry = request.getJSONObject("entry");
        if (entry != null) {
            return "index=" + entry.get("index") + " term=" + entry.get("term");
        }
        JSONArray entries = request.getJSONArray("entries");
        if (entries != null && !entries.isEmpty()) {
            return "index=" + entries.getJSONObject(0).get("index") + " count=" + entries.size();
        }
        return "index=" + request.get("preLogIndex") + " term=" + request.get("preLogTerm");
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.start();
    }

    private static void close(Socket socket) {
        try {
            if (socket != null) {
                socket.close();
            }
        } catch (IOException already) {
            // it is closed
        }
    }
}
