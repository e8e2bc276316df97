package rocketproof.agent;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Which methods are watched, and what is done when they are entered and left. */
public final class Hooks {
    private static volatile Hooks present;

    private final Map<String, List<Hook>> entries = new HashMap<>();
    private final Map<String, List<Hook>> exits = new HashMap<>();
    private final Object monitor;
    private final Gates gates;

    /** What is done at a method: with its object, its arguments, and what it returned. */
    interface Hook {
        void at(Object self, Object[] arguments, Object result) throws Exception;
    }

    private Hooks(Object monitor, Gates gates) {
        this.monitor = monitor;
        this.gates = gates;
    }

    static Hooks begin(Options options) throws Exception {
        Records records = new Records(options);
        Hooks hooks = new Hooks(records, new Gates(options.gates));
        if (options.isConsumer) {
            new ConsumerSteps(options, records).register(hooks);
        } else {
            BrokerSteps broker = new BrokerSteps(options, records);
            broker.register(hooks);
            new SetSteps(records, broker).register(hooks);
            new LegacySteps(options, records).register(hooks);
            new LockSteps(records).register(hooks);
            new ControllerSteps(options, records).register(hooks);
        }
        present = hooks;
        return hooks;
    }

    void enter(String type, String method, Hook hook) {
        add(entries, type + '.' + method, hook);
    }

    void exit(String type, String method, Hook hook) {
        add(exits, type + '.' + method, hook);
    }

    private static void add(Map<String, List<Hook>> hooks, String method, Hook hook) {
        hooks.computeIfAbsent(method, none -> new ArrayList<>()).add(hook);
    }

    /** Return the methods that are watched, by their classes. */
    Map<String, Set<String>> watched() {
        Map<String, Set<String>> watched = new HashMap<>();
        Set<String> all = new HashSet<>(entries.keySet());
        all.addAll(exits.keySet());
        all.addAll(Gates.methods());
        for (String one : all) {
            int dot = one.lastIndexOf('.');
            watched.computeIfAbsent(one.substring(0, dot), type -> new HashSet<>()).add(one.substring(dot + 1));
        }
        return watched;
    }

    /** Called at the begin of a watched method. */
    public static void entered(String method, Object self, Object[] arguments) {
        Hooks hooks = present;
        hooks.gates.enter(method);
        run(hooks, hooks.entries, method, self, arguments, null);
    }

    /** Called when a watched method returns. */
    public static void left(String method, Object self, Object[] arguments, Object result) {
        Hooks hooks = present;
        hooks.gates.leave(method);
        run(hooks, hooks.exits, method, self, arguments, result);
    }

    private static void run(
            Hooks hooks, Map<String, List<Hook>> of, String method, Object self, Object[] arguments, Object result) {
        for (Hook hook : of.getOrDefault(method, Collections.emptyList())) {
            synchronized (hooks.monitor) {
                try {
                    hook.at(self, arguments, result);
                } catch (Throwable error) {
                    failed(method, error);
                }
            }
        }
    }

    /** Say on the error output that something was not recorded: whoever started the process looks for it. */
    static void failed(String what, Throwable error) {
        PrintStream out = System.err;
        synchronized (out) {
            out.println("rocketproof agent: not recorded: " + what);
            error.printStackTrace(out);
        }
    }
}
