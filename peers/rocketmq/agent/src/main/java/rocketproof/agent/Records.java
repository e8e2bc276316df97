package rocketproof.agent;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes one line a step of this node, as traces/RECORDS.md says; the header is there before.
 *
 * <p>A line is written by one call before the step that it tells of can have an effect elsewhere, so a kill
 * loses at most the end of the last line. Who calls holds the monitor of this object.
 */
final class Records {
    private final String node;
    private final int incarnation;
    private final OutputStream out;
    private final Map<String, String> known = new HashMap<>();
    private long sequence;

    Records(Options options) throws IOException {
        node = options.node;
        incarnation = options.incarnation;
        out = new FileOutputStream(options.records.toFile(), true);
    }

    /** What is said of one step. */
    final class Step {
        private final Map<String, Object> line = new LinkedHashMap<>();
        private final Map<String, Object> state = new LinkedHashMap<>();
        private final Map<String, Object> params = new LinkedHashMap<>();
        private final List<Object> sent = new ArrayList<>();
        private final List<Object> received = new ArrayList<>();
        private final List<Object> answered = new ArrayList<>();
        private final String event;
        private final String action;

        private Step(String event, String action) {
            this.action = action;
            this.event = event;
        }

        Step param(String name, Object value) {
            params.put(name, value);
            return this;
        }

        /** Show a part of the state, if it is not what was shown before. */
        Step shows(String part, Object value) {
            String text = Json.of(value);
            if (!text.equals(known.put(part, text))) {
                state.put(part, value);
            }
            return this;
        }

        /** Tell whether anything of the state is shown so far. */
        boolean showsSomething() {
            return !state.isEmpty();
        }

        /** Show a part of the state, changed or not. */
        Step always(String part, Object value) {
            known.put(part, Json.of(value));
            state.put(part, value);
            return this;
        }

        /** Show what of a long part is kept, and what is added. */
        Step changed(String part, int kept, List<?> added) {
            Map<String, Object> change = new LinkedHashMap<>();
            change.put("kept", kept);
            change.put("added", added);
            state.put(part, change);
            return this;
        }

        Step sends(String id, String to) {
            Map<String, Object> message = new LinkedHashMap<>();
            message.put("id", id);
            if (to != null) {
                message.put("to", to);
            }
            sent.add(message);
            return this;
        }

        Step sends(String id, String to, int code, String body) {
            Map<String, Object> message = new LinkedHashMap<>();
            message.put("id", id);
            message.put("to", to);
            message.put("code", code);
            message.put("body", body);
            sent.add(message);
            return this;
        }

        Step receives(String id) {
            received.add(id);
            return this;
        }

        Step answers(Map<String, Object> answer) {
            answered.add(answer);
            return this;
        }

        void write() throws IOException {
            line.put("node", node);
            line.put("incarnation", incarnation);
            line.put("sequence", sequence);
            line.put("at_ns", System.nanoTime());
            line.put("shows_ms", System.currentTimeMillis());
            line.put("event", event);
            put("action", action, action == null);
            put("params", params, params.isEmpty());
            put("state", state, state.isEmpty());
            put("sent", sent, sent.isEmpty());
            put("received", received, received.isEmpty());
            put("answered", answered, answered.isEmpty());
            out.write((Json.of(line) + "\n").getBytes(StandardCharsets.UTF_8));
            sequence++;
        }

        private void put(String member, Object value, boolean isNothing) {
            if (!isNothing) {
                line.put(member, value);
            }
        }
    }

    Step step(String event, String action) {
        return new Step(event, action);
    }

    Step step(String action) {
        return new Step(action, action);
    }
}
