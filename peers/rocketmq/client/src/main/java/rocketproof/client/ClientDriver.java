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
 * send: topic, id, size, timeout_ms -> status, queue_offset, message_id
 * read: topic, idle_ms -> ids, as the bodies begin, and queue_offsets; until nothing came for so long
 * consume: topic, group, instance, work_ms -> nothing; from now on it processes messages in order, in
 *     so long each, as a consumer that is called instance and has RocketMQ's defaults
 */
public final class ClientDriver {
    private static final int POLL_MS = 200;

    private final String nameServer;
    private final DefaultMQProducer producer;
    private final PrintStream answers;

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
            if (op.equals("send")) {
                send(request, answer);
            } else if (op.equals("read")) {
                read(request, answer);
            } else if (op.equals("consume")) {
                consume(request);
            } else {
                throw new IllegalArgumentException("no op is called " + op);
            }
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
        String id = text(request, "id");
        byte[] start = (id + ";").getBytes(StandardCharsets.UTF_8);
        byte[] body = new byte[Math.max(number(request, "size"), start.length)];
        System.arraycopy(start, 0, body, 0, start.length);
        answer.put("id", id);
        Message message = new Message(text(request, "topic"), "", id, body);
        SendResult result = producer.send(message, number(request, "timeout_ms"));
        answer.put("status", result.getSendStatus().name());
        answer.put("queue_offset", result.getQueueOffset());
        answer.put("message_id", result.getOffsetMsgId());
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
            long idleNs = number(request, "idle_ms") * 1_000_000L;
            for (long last = System.nanoTime(); System.nanoTime() - last < idleNs; ) {
                for (MessageExt message : consumer.poll(POLL_MS)) {
                    String body = new String(message.getBody(), StandardCharsets.UTF_8);
                    ids.add(body.substring(0, Math.max(body.indexOf(';'), 0)));
                    offsets.add(message.getQueueOffset());
                    last = System.nanoTime();
                }
            }
            answer.put("ids", ids);
            answer.put("queue_offsets", offsets);
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
