package rocketproof.agent;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What consumers and brokers call queues, consumers and requests for locks. */
final class QueueNames {
    static final int LOCK_BATCH_MQ = 41;
    static final int UNLOCK_BATCH_MQ = 42;
    private static final String OF_RETRIES = "%RETRY%";

    private QueueNames() {
    }

    /** Return queues in order, without those of retries: a consumer subscribes to these by itself. */
    static Collection<Object> ordered(Collection<?> queues) throws ReflectiveOperationException {
        Map<String, Object> found = new TreeMap<>();
        for (Object queue : queues) {
            if (isOfATopic(queue)) {
                found.put(String.valueOf(queue), queue);
            }
        }
        return found.values();
    }

    static boolean isOfATopic(Object queue) throws ReflectiveOperationException {
        return !String.valueOf(Inside.call(queue, "getTopic")).startsWith(OF_RETRIES);
    }

    /** Return queues as the state and the parameters of a record have them. */
    static List<Object> asParts(Collection<?> queues) throws ReflectiveOperationException {
        return all(queues, "topic", "broker_name", "queue_id");
    }

    /** Return queues as the body of a request has them. */
    static List<Object> asBody(Collection<?> queues) throws ReflectiveOperationException {
        return all(queues, "topic", "brokerName", "queueId");
    }

    private static List<Object> all(Collection<?> queues, String topic, String broker, String number)
            throws ReflectiveOperationException {
        List<Object> named = new ArrayList<>();
        for (Object queue : ordered(queues)) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put(topic, Inside.call(queue, "getTopic"));
            one.put(broker, Inside.call(queue, "getBrokerName"));
            one.put(number, Inside.call(queue, "getQueueId"));
            named.add(one);
        }
        return named;
    }

    /** Return the node of a client id, which is "address@node". */
    static String consumer(Object clientId) {
        String[] parts = String.valueOf(clientId).split("@");
        return parts.length > 1 ? parts[1] : parts[0];
    }

    /** Return the id of a request, at both of its ends: RocketMQ numbers those of a process. */
    static String request(String consumer, Object opaque) {
        return consumer + ':' + opaque;
    }

    /** Return the id of what answers a request. */
    static String answer(String request) {
        return request + ":response";
    }
}
