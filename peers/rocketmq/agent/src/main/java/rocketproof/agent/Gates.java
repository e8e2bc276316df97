package rocketproof.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * Places where a thread waits as long as a file is there, as one that gets no processor.
 *
 * <p>Nothing is held meanwhile but what RocketMQ itself holds. The file has the name of the method; the thread that
 * waits says so by one of that name and {@code .reached}.
 */
final class Gates {
    private static final String SERVICE = "org.apache.rocketmq.store.ha.autoswitch.AutoSwitchHAService.";
    private static final String BEFORE = SERVICE + "markSynchronizingSyncStateSet";
    private static final String BEHIND = SERVICE + "maybeShrinkSyncStateSet";
    private static final long ASK_EVERY_MS = 10;

    private final Path folder;

    Gates(Path folder) {
        this.folder = folder;
    }

    /** The methods that have a gate, before them or behind. */
    static List<String> methods() {
        return Arrays.asList(BEFORE, BEHIND);
    }

    /** Called at the begin of a watched method. */
    void enter(String method) {
        if (method.equals(BEFORE)) {
            pass(method);
        }
    }

    /** Called when a watched method returns. */
    void leave(String method) {
        if (method.equals(BEHIND)) {
            pass(method);
        }
    }

    private void pass(String method) {
        if (folder == null) {
            return;
        }
        String name = method.substring(method.lastIndexOf('.') + 1);
        Path shut = folder.resolve(name);
        try {
            while (Files.exists(shut)) {
                Path reached = folder.resolve(name + ".reached");
                if (!Files.exists(reached)) {
                    Files.createFile(reached);
                }
                Thread.sleep(ASK_EVERY_MS);
            }
        } catch (IOException | InterruptedException error) {
            Hooks.failed(method, error);
        }
    }
}
