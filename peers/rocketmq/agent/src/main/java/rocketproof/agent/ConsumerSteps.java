package rocketproof.agent;

import java.io.IOException;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The steps of a consumer that processes queues in order, and locks them for that.
 *
 * <p>RocketMQ numbers no attempts: their numbers are counted here, and stand in the bodies that are
 * recorded, not in those that are sent. A consumer of 5.3 and later asks for all its queues twice at
 * once, as two services of it do (for messages that are pulled, and popped). What is asked while an
 * attempt is under way is recorded as the same attempt again, and no action.
 */
final class ConsumerSteps {
    private static final String CLIENT = "org.apache.rocketmq.client.impl.";
    private static final String REQUESTS = CLIENT + "MQClientAPIImpl";
    private static final String REBALANCE = CLIENT + "consumer.RebalanceImpl";
    private static final String QUEUE = CLIENT + "consumer.ProcessQueue";
    private static final String SERVICE = CLIENT + "consumer.ConsumeMessageOrderlyService";
    private static final String REMOTING = "org.apache.rocketmq.remoting.netty.NettyRemotingClient";

    private final Options options;
    private final Records records;
    private final ThreadLocal<Object> body = new ThreadLocal<>();
    private final ThreadLocal<String> asked = new ThreadLocal<>();
    private Object rebalance;
    private String attempt;
    private Object granted;
    private int tries;

    ConsumerSteps(Options options, Records records) {
        this.options = options;
        this.records = records;
    }

    void register(Hooks hooks) throws IOException {
        records.step("NodeStarted", null).shows("tries", 0).shows("attempt", null).write();
        for (String locks : new String[] {"lock", "lockAll"}) {
            hooks.enter(REBALANCE, locks, (self, arguments, result) -> rebalance = self);
            hooks.exit(REBALANCE, locks, (self, arguments, result) -> gaveUp());
        }
        for (String asks : new String[] {"lockBatchMQ", "unlockBatchMQ"}) {
            hooks.enter(REQUESTS, asks, (self, arguments, result) -> body.set(arguments[1]));
        }
        hooks.exit(REQUESTS, "lockBatchMQ", (self, arguments, result) -> answered((Collection<?>) result));
        hooks.enter(REMOTING, "invokeSync", (self, arguments, result) -> sends(arguments[0], arguments[1]));
        hooks.enter(REMOTING, "invokeOneway", (self, arguments, result) -> sends(arguments[0], arguments[1]));
        hooks.exit(QUEUE, "takeMessages", (self, arguments, result) -> took(self, (Collection<?>) result));
        hooks.exit(SERVICE, "processConsumeResult",
            (self, arguments, result) -> processed((Collection<?>) arguments[0], arguments[2]));
    }

    // ---- locks ----

    private void sends(Object address, Object request) throws Exception {
        long code = Inside.asked(request, "getCode");
        if (code != QueueNames.LOCK_BATCH_MQ && code != QueueNames.UNLOCK_BATCH_MQ) {
            return;
        }
        Collection<Object> queues = QueueNames.ordered((Collection<?>) Inside.call(body.get(), "getMqSet"));
        if (queues.isEmpty()) {
            return;
        }
        boolean isLock = code == QueueNames.LOCK_BATCH_MQ;
        boolean isAgain = isLock && attempt != null;
        String id = QueueNames.request(options.node, Inside.call(request, "getOpaque"));
        if (isLock) {
            asked.set(id);
        }
        if (isLock && !isAgain) {
            tries++;
            attempt = id;
        }
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("attempt", tries);
        told.put("clientId", options.node);
        told.put("consumerGroup", Inside.call(body.get(), "getConsumerGroup"));
        told.put("mqSet", QueueNames.asBody(queues));
        told.put("onlyThisBroker", false);
        String name = isLock ? "Lock" : "Unlock";
        Records.Step step = records.step(isAgain ? "LockAgain" : name, isAgain ? null : name);
        step.param("queues", QueueNames.asParts(queues)).shows("tries", tries);
        if (isLock && !isAgain) {
            Map<String, Object> begun = new LinkedHashMap<>();
            begun.put("number", tries);
            begun.put("queues", QueueNames.asParts(queues));
            step.shows("attempt", begun);
        }
        step.sends(id, options.names.get(String.valueOf(address)), (int) code, Json.of(told)).write();
    }

    private void answered(Collection<?> locked) throws Exception {
        String id = asked.get();
        if (id == null) {
            return;
        }
        asked.remove();
        Object got = QueueNames.asParts(locked);
        boolean isAgain = !id.equals(attempt);
        Records.Step step;
        if (!isAgain) {
            attempt = null;
            granted = got;
            step = records.step("ReceiveAnswer").shows("attempt", null);
        } else if (attempt != null || got.equals(granted)) {
            step = records.step("AnsweredAgain", null);
        } else {
            step = records.step("AnsweredAgain", "ReceiveAnswer");
        }
        step.param("queues", got).receives(QueueNames.answer(id)).write();
    }

    private void gaveUp() throws Exception {
        String id = asked.get();
        if (id == null) {
            return;
        }
        asked.remove();
        if (id.equals(attempt)) {
            attempt = null;
            records.step("GiveUp").shows("attempt", null).write();
        } else {
            records.step("GaveUpAgain", null).write();
        }
    }

    // ---- messages ----

    private void took(Object queue, Collection<?> messages) throws Exception {
        if (messages == null || messages.isEmpty() || rebalance == null) {
            return;
        }
        Map<?, ?> table = (Map<?, ?>) Inside.field(rebalance, "processQueueTable");
        for (Map.Entry<?, ?> entry : table.entrySet()) {
            if (entry.getValue() == queue && QueueNames.isOfATopic(entry.getKey())) {
                write(records.step("Process"), Collections.singletonList(entry.getKey()), messages);
            }
        }
    }

    private void processed(Collection<?> messages, Object context) throws Exception {
        Object queue = Inside.call(context, "getMessageQueue");
        if (QueueNames.isOfATopic(queue)) {
            write(records.step("Processed", null), Arrays.asList(queue), messages);
        }
    }

    private static void write(Records.Step step, Collection<?> queues, Collection<?> messages) throws Exception {
        Object first = messages.iterator().next();
        step.param("queues", QueueNames.asParts(queues)).param("offset", Inside.call(first, "getQueueOffset")).write();
    }
}
