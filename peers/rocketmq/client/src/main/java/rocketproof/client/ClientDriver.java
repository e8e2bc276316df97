package rocketproof.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.protocol.RemotingSerializable;

/**
 * The released client, which does what lines on its standard input say: a JSON object a line, with
 * "number" (given back in the answer), "op" and what the op needs. An answer is a line, too, with
 * "begin_ns" and "end_ns" (System.nanoTime) and either what came of it or "error". Requests overlap.
 *
 * send: topic, id, size, timeout_ms, perhaps delay_level or delay_ms -> status, queue_offset, message_id, broker
 * read: topic, idle_ms -> ids, as the bodies begin, and queue_offsets; until nothing came for so long;
 *     events: id, broker, and store_ms, since 1970, of the same
 * consume: topic, group, instance, work_ms -> nothing; from now on it processes messages in order, in
 *     so long each, as a consumer that is called instance and has RocketMQ's defaults
 * half: topic, id, size -> status, queue_offset, broker; the message is left open (Transactions)
 * decide: id, state -> nothing; from now on a check of it is answered so
 * checks: -> events: id, at_ns, store_host and answer of each check
 * commit: id, address -> code, and the remark as status
 * pop: topic, group, broker, address, count, invisible_ms -> events: id, at_ns, broker, times, handle (Pops)
 * ack: topic, group, address, handle -> status
 */
public final class ClientDriver {
    private static final int POLL_MS = 200;

    private final String nameServer;
    private final DefaultMQProducer producer;
    private final PrintStream answers;
    private Transactions transactions;
    private final Map<String, Op> ops = Map.ofEntries(
        Map.entry("send", this::send),
        Map.entry("read", this::read),
        Map.entry("consume", (request, answer) -> consume(request)),
        Map.entry("half", (request, answer) -> transactions().send(message(request), text(request, "id"), answer)),
        Map.entry("decide", (request, answer) -> transactions().decide(text(request, "id"), text(request, "state"))),
        Map.entry("checks", (request, answer) -> answer.put("events", transactions().checks())),
        Map.entry("commit",
            (request, answer) -> transactions().commit(text(request, "id"), text(request, "address"), answer)),
        Map.entry("pop", (request, answer) -> answer.put("events", pop(request))),
        Map.entry("ack", (request, answer) -> answer.put("status", acknowledge(request))));

    private interface Op {
        void perform(Map<?, ?> request, Map<String, Object> answer) throws Exception;
    }

    private ClientDriver(String nameServer, PrintStream answers) throws Exception {
        this.nameServer = nameServer;
        this.answers = answers;
        producer = new DefaultMQProducer("rocketproof-producers");
        producer.setNamesrvAddr(nameServer);
        producer.setRetryTimesWhenSendFailed(0);
        producer.setPollNameServerInterval(500);
        producer.setHeartbeatBrokerInterval(1000);
        producer.setVipChannelEnabled(false);
        producer.setCompressMsgBodyOverHowmuch(Integer.MAX_VALUE);
        producer.start();
    }

    /** Takes the name server's address; ends when its input does. */
    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, "UTF-8");
        System.setOut(System.err);  // what libraries print is no answer
        ClientDriver driver = new ClientDriver(arguments[0], answers);
        driver.answer(Map.of("number", 0, "op", "start"));
        driver.serve(new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)));
        System.exit(0);
    }

    private void serve(BufferedReader requests) throws IOException {
        ExecutorService threads = Executors.newCachedThreadPool();
        String line;
        while ((line = requests.readLine()) != null) {
            Map<?, ?> request = RemotingSerializable.fromJson(line, Map.class);
            threads.execute(() -> perform(request));
        }
    }

    private void perform(Map<?, ?> request) {
        Map<String, Object> answer = new LinkedHashMap<>();
        String op = String.valueOf(request.get("op"));
        answer.put("number", request.get("number"));
        answer.put("op", op);
        answer.put("begin_ns", System.nanoTime());
        try {
            Op performed = ops.get(op);
            if (performed == null) {
                throw new IllegalArgumentException("no op is called " + op);
            }
            performed.perform(request, answer);
        } catch (Throwable error) {
            answer.put("error", String.valueOf(error));
        }
        answer.put("end_ns", System.nanoTime());
        answer(answer);
    }

    private void answer(Map<String, ?> answer) {
        String line = RemotingSerializable.toJson(answer, false);
        synchronized (answers) {
            answers.println(line);
        }
    }

    private void send(Map<?, ?> request, Map<String, Object> answer) throws Exception {
        answer.put("id", text(request, "id"));
        Message message = message(request);
        if (request.containsKey("delay_level")) {
            message.setDelayTimeLevel(number(request, "delay_level"));
        }
        if (request.containsKey("delay_ms")) {
            message.setDelayTimeMs(number(request, "delay_ms"));
        }
        SendResult result = producer.send(message, number(request, "timeout_ms"));
        answer.put("status", result.getSendStatus().name());
        answer.put("queue_offset", result.getQueueOffset());
        answer.put("message_id", result.getOffsetMsgId());
        answer.put("broker", result.getMessageQueue().getBrokerName());
    }

    private static Message message(Map<?, ?> request) {
        String id = text(request, "id");
        byte[] start = (id + ";").getBytes(StandardCharsets.UTF_8);
        byte[] body = new byte[Math.max(number(request, "size"), start.length)];
        System.arraycopy(start, 0, body, 0, start.length);
        return new Message(text(request, "topic"), "", id, body);
    }

    private synchronized Transactions transactions() throws Exception {
        if (transactions == null) {
            transactions = new Transactions(nameServer);
        }
        return transactions;
    }

    private Pops pops() {
        return new Pops(producer.getDefaultMQProducerImpl().getMqClientFactory());
    }

    private List<Map<String, Object>> pop(Map<?, ?> request) throws Exception {
        return pops().pop(text(request, "topic"), text(request, "group"), text(request, "broker"),
            text(request, "address"), number(request, "count"), number(request, "invisible_ms"));
    }

    private String acknowledge(Map<?, ?> request) throws Exception {
        return pops().acknowledge(text(request, "topic"), text(request, "group"), text(request, "address"),
            text(request, "handle"));
    }

    private void read(Map<?, ?> request, Map<String, Object> answer) throws Exception {
        DefaultLitePullConsumer consumer = new DefaultLitePullConsumer("rocketproof-" + System.nanoTime());
        consumer.setNamesrvAddr(nameServer);
        consumer.setVipChannelEnabled(false);
        consumer.setAutoCommit(false);
        consumer.start();
        try {
            Collection<MessageQueue> queues = consumer.fetchMessageQueues(text(request, "topic"));
            consumer.assign(queues);
            for (MessageQueue queue : queues) {
                consumer.seekToBegin(queue);
            }
            List<String> ids = new ArrayList<>();
            List<Long> offsets = new ArrayList<>();
            List<Map<String, Object>> events = new ArrayList<>();
            long idleNs = number(request, "idle_ms") * 1_000_000L;
            for (long last = System.nanoTime(); System.nanoTime() - last < idleNs; ) {
                for (MessageExt message : consumer.poll(POLL_MS)) {
                    String body = new String(message.getBody(), StandardCharsets.UTF_8);
                    String id = body.substring(0, Math.max(body.indexOf(';'), 0));
                    ids.add(id);
                    offsets.add(message.getQueueOffset());
                    events.add(Map.of(
                        "id", id, "broker", message.getBrokerName(), "store_ms", message.getStoreTimestamp()));
                    last = System.nanoTime();
                }
            }
            answer.put("ids", ids);
            answer.put("queue_offsets", offsets);
            answer.put("events", events);
        } finally {
            consumer.shutdown();
        }
    }

    private void consume(Map<?, ?> request) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(text(request, "group"));
        consumer.setNamesrvAddr(nameServer);
        consumer.setInstanceName(text(request, "instance"));
        consumer.setVipChannelEnabled(false);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(text(request, "topic"), "*");
        int workMs = number(request, "work_ms");
        consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
            try {
                Thread.sleep(workMs);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
            return ConsumeOrderlyStatus.SUCCESS;
        });
        consumer.start();
    }

    private static String text(Map<?, ?> request, String name) {
        if (request.get(name) instanceof String) {
            return (String) request.get(name);
        }
        throw new IllegalArgumentException(request.get("op") + " needs the text " + name);
    }

    private static int number(Map<?, ?> request, String name) {
        if (request.get(name) instanceof Number) {
            return ((Number) request.get(name)).intValue();
        }
        throw new IllegalArgumentException(request.get("op") + " needs the number " + name);
    }
}
