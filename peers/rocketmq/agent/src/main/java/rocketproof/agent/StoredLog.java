package rocketproof.agent;

import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The records of a CommitLog, read from its bytes: where each ends, and what its body begins with.
 *
 * <p>Layout: MessageExtEncoder of the store. A body begins with a text that ends with ';' or a zero byte; of one
 * without these the place and the checksum are the name.
 */
final class StoredLog {
    private static final int MESSAGE_V1 = 0xDAA320A7;
    private static final int MESSAGE_V2 = 0xDAA320AB;
    private static final int FILLER = 0xCBD43194;
    private static final int CRC_AT = 8;
    private static final int FLAGS_AT = 36;
    private static final int BODY_SIZE_AT = 84;
    private static final int LONG_HOST = 12;
    private static final int ID_MAX = 64;

    private final Object commitLog;
    private final Method data;
    private final List<Long> begins = new ArrayList<>();
    private final List<Long> ends = new ArrayList<>();
    private long at;

    /** What of the records is as before, and which come behind them. */
    static final class Change {
        final int kept;
        final List<Map<String, Object>> added;

        private Change(int kept, List<Map<String, Object>> added) {
            this.kept = kept;
            this.added = added;
        }

        boolean isNone(int before) {
            return added.isEmpty() && kept == before;
        }
    }

    StoredLog(Object store) throws ReflectiveOperationException {
        commitLog = Inside.call(store, "getCommitLog");
        data = commitLog.getClass().getMethod("getData", long.class);
    }

    int size() {
        return ends.size();
    }

    /** Return where the first file begins. */
    long begin() throws ReflectiveOperationException {
        return Math.max(Inside.asked(commitLog, "getMinOffset"), 0);
    }

    /** Return where the record that ends here begins; what is left of a file before it belongs to none. */
    long beginOf(long end) {
        return begins.get(ends.indexOf(end));
    }

    /** Read the log up to its end in memory. */
    Change read() throws ReflectiveOperationException {
        long end = Inside.asked(commitLog, "getMaxOffset");
        if (at > end) {
            at = 0;
            int left = 0;
            while (left < ends.size() && ends.get(left) <= end) {
                at = ends.get(left++);
            }
            begins.subList(left, begins.size()).clear();
            ends.subList(left, ends.size()).clear();
        }
        if (ends.isEmpty()) {
            at = Math.max(at, begin());
        }
        int kept = ends.size();
        List<Map<String, Object>> added = new ArrayList<>();
        while (at < end && readSegment(end, added)) {
            // the next one begins where this one ends
        }
        return new Change(kept, added);
    }

    /** Read whole records of the file that has the next one; false: none is there. */
    private boolean readSegment(long end, List<Map<String, Object>> added) throws ReflectiveOperationException {
        Object result = data.invoke(commitLog, at);
        if (result == null) {
            return false;
        }
        try {
            ByteBuffer bytes = ((ByteBuffer) Inside.call(result, "getByteBuffer")).slice();
            int from = 0;
            while (bytes.limit() - from >= 8 && at < end) {
                int size = bytes.getInt(from);
                int magic = bytes.getInt(from + 4);
                if (magic == FILLER && size > 0) {
                    at += size;
                    return true;
                }
                if (magic != MESSAGE_V1 && magic != MESSAGE_V2 || size <= 0 || size > bytes.limit() - from) {
                    return false;
                }
                begins.add(at);
                at += size;
                ends.add(at);
                Map<String, Object> item = new LinkedHashMap<>();
                item.put("end", at);
                item.put("id", name(bytes, from));
                added.add(item);
                from += size;
            }
            return from > 0;
        } finally {
            Inside.call(result, "release");
        }
    }

    private String name(ByteBuffer bytes, int from) {
        int flags = bytes.getInt(from + FLAGS_AT);
        int hosts = ((flags & 0x10) != 0 ? LONG_HOST : 0) + ((flags & 0x20) != 0 ? LONG_HOST : 0);
        int sizeAt = from + BODY_SIZE_AT + hosts;
        byte[] begin = new byte[Math.min(bytes.getInt(sizeAt), ID_MAX)];
        for (int i = 0; i < begin.length; i++) {
            begin[i] = bytes.get(sizeAt + 4 + i);
        }
        String text = new String(begin, StandardCharsets.ISO_8859_1);
        int stop = 0;
        while (stop < text.length() && text.charAt(stop) != ';' && text.charAt(stop) != 0) {
            stop++;
        }
        boolean isNamed = stop > 0 && stop < text.length();
        return isNamed ? text.substring(0, stop) : "@" + at + ':' + Integer.toHexString(bytes.getInt(from + CRC_AT));
    }
}
