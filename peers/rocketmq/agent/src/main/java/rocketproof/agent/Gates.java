package rocketproof.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Set;

/**
 * Places where a thread waits as long as a file is there, as one that gets no processor.
 *
 * <p>Nothing is held meanwhile but what RocketMQ itself holds. The file has the name of the method; the thread that
 * waits says so by one of that name and {@code .reached}.
 */
final class Gates {
    private static final Set<String> METHODS = Collections.singleton(
        "org.apache.rocketmq.store.ha.autoswitch.AutoSwitchHAService.markSynchronizingSyncStateSet");
    private static final long ASK_EVERY_MS = 10;

    private final Path folder;

    Gates(Path folder) {
        this.folder = folder;
    }

    /** Called at the begin of a watched method. */
    void pass(String method) {
        if (folder == null || !METHODS.contains(method)) {
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
