package rocketproof.agent;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The steps of a broker that consumers ask for locks on queues; what other brokers ask is not recorded. */
final class LockSteps {
    private static final String PROCESSOR = "org.apache.rocketmq.broker.processor.AdminBrokerProcessor";
    private static final String MANAGER = "org.apache.rocketmq.broker.client.rebalance.RebalanceLockManager";

    private static final String OF_A_BROKER = "\"onlyThisBroker\":true";

    private final Records records;
    private final ThreadLocal<Object> request = new ThreadLocal<>();

    LockSteps(Records records) {
        this.records = records;
    }

    void register(Hooks hooks) {
        hooks.enter(PROCESSOR, "lockBatchMQ", (self, arguments, result) -> begins(arguments[1]));
        hooks.exit(PROCESSOR, "lockBatchMQ", (self, arguments, result) -> request.remove());
        hooks.exit(MANAGER, "tryLockBatch", (self, arguments, result) -> took("ReceiveAsk", self, arguments));
        hooks.enter(PROCESSOR, "unlockBatchMQ", (self, arguments, result) -> begins(arguments[1]));
        hooks.exit(PROCESSOR, "unlockBatchMQ", (self, arguments, result) -> request.remove());
        hooks.exit(MANAGER, "unlockBatch", (self, arguments, result) -> took("ReceiveFree", self, arguments));
    }

    private void begins(Object taken) throws Exception {
        byte[] body = (byte[]) Inside.call(taken, "getBody");
        if (!new String(body, StandardCharsets.UTF_8).contains(OF_A_BROKER)) {
            request.set(taken);
        }
    }

    private void took(String action, Object manager, Object[] arguments) throws Exception {
        Object taken = request.get();
        Collection<Object> queues = QueueNames.ordered((Collection<?>) arguments[1]);
        if (taken == null || queues.isEmpty()) {
            return;
        }
        String consumer = QueueNames.consumer(arguments[2]);
        String id = QueueNames.request(consumer, Inside.call(taken, "getOpaque"));
        records.step(action).receives(id).param("queues", QueueNames.asParts(queues)).shows("votes", votes(manager))
            .sends(QueueNames.answer(id), consumer).write();
    }

    private static List<Object> votes(Object manager) throws Exception {
        List<Object> votes = new ArrayList<>();
        Map<?, ?> groups = (Map<?, ?>) Inside.field(manager, "mqLockTable");
        for (Map.Entry<?, ?> group : new TreeMap<>(groups).entrySet()) {
            Map<?, ?> entries = (Map<?, ?>) group.getValue();
            for (Object queue : QueueNames.ordered(entries.keySet())) {
                Object entry = entries.get(queue);
                Map<String, Object> vote = new LinkedHashMap<>();
                vote.put("client_id", QueueNames.consumer(Inside.field(entry, "clientId")));
                vote.put("voted_ms", Inside.number(entry, "lastUpdateTimestamp"));
                Object named = QueueNames.asParts(Arrays.asList(queue)).get(0);
                votes.add(Arrays.asList(Arrays.asList(group.getKey(), named), vote));
            }
        }
        return votes;
    }
}
