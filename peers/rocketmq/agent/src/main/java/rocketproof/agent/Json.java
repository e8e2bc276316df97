package rocketproof.agent;

import java.util.Collection;
import java.util.Map;

/** Writes JSON: of null, strings, numbers, booleans, maps with string keys, and collections. */
final class Json {
    private Json() {
    }

    static String of(Object value) {
        StringBuilder out = new StringBuilder(128);
        write(out, value);
        return out.toString();
    }

    private static void write(StringBuilder out, Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof Map) {
            char before = '{';
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                out.append(before);
                text(out, String.valueOf(entry.getKey()));
                out.append(':');
                write(out, entry.getValue());
                before = ',';
            }
            out.append(before == '{' ? "{}" : "}");
        } else if (value instanceof Collection) {
            char before = '[';
            for (Object item : (Collection<?>) value) {
                out.append(before);
                write(out, item);
                before = ',';
            }
            out.append(before == '[' ? "[]" : "]");
        } else {
            text(out, String.valueOf(value));
        }
    }

    private static void text(StringBuilder out, String value) {
        out.append('"');
        for (int at = 0; at < value.length(); at++) {
            char one = value.charAt(at);
            if (one == '"' || one == '\\') {
                out.append('\\').append(one);
            } else if (one < 0x20 || one > 0x7e) {
                out.append(String.format("\\u%04x", (int) one));
            } else {
                out.append(one);
            }
        }
        out.append('"');
    }
}
