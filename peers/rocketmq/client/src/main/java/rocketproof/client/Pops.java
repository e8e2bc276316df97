package rocketproof.client;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.AckCallback;
import org.apache.rocketmq.client.consumer.AckResult;
import org.apache.rocketmq.client.consumer.PopCallback;
import org.apache.rocketmq.client.consumer.PopResult;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.constant.ConsumeInitMode;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.remoting.protocol.header.AckMessageRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.ExtraInfoUtil;
import org.apache.rocketmq.remoting.protocol.header.PopMessageRequestHeader;

/** Pops messages of one broker and acknowledges them, each when it is told, by the released client's calls. */
final class Pops {
    private static final int TIMEOUT_MS = 10_000;

    private final MQClientInstance client;

    Pops(MQClientInstance client) {
        this.client = client;
    }

    /** Pops at most so many messages; each comes with the handle by which it is acknowledged. */
    List<Map<String, Object>> pop(
            String topic, String group, String broker, String address, int count, int invisibleMs) throws Exception {
        PopMessageRequestHeader header = new PopMessageRequestHeader();
        header.setConsumerGroup(group);
        header.setTopic(topic);
        header.setQueueId(-1);
        header.setMaxMsgNums(count);
        header.setInvisibleTime(invisibleMs);
        header.setPollTime(0);
        header.setBornTime(System.currentTimeMillis());
        header.setInitMode(ConsumeInitMode.MIN);
        header.setExpType("TAG");
        header.setExp("*");
        header.setBrokerName(broker);
        CompletableFuture<PopResult> answered = new CompletableFuture<>();
        client.getMQClientAPIImpl().popMessageAsync(broker, address, header, TIMEOUT_MS, new PopCallback() {
            @Override
            public void onSuccess(PopResult result) {
                answered.complete(result);
            }

            @Override
            public void onException(Throwable error) {
                answered.completeExceptionally(error);
            }
        });
        List<Map<String, Object>> popped = new ArrayList<>();
        PopResult result = answered.get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
        for (MessageExt message : result.getMsgFoundList() == null ? List.<MessageExt>of() : result.getMsgFoundList()) {
            String body = new String(message.getBody(), StandardCharsets.UTF_8);
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("id", body.substring(0, Math.max(body.indexOf(';'), 0)));
            one.put("at_ns", System.nanoTime());
            one.put("broker", broker);
            one.put("times", message.getReconsumeTimes());
            one.put("handle", message.getProperty(MessageConst.PROPERTY_POP_CK));
            popped.add(one);
        }
        return popped;
    }

    /** Acknowledges a message by its handle; gives what the broker said. */
    String acknowledge(String topic, String group, String address, String handle) throws Exception {
        String[] parts = ExtraInfoUtil.split(handle);
        AckMessageRequestHeader header = new AckMessageRequestHeader();
        header.setTopic(ExtraInfoUtil.getRealTopic(parts, topic, group));
        header.setQueueId(ExtraInfoUtil.getQueueId(parts));
        header.setOffset(ExtraInfoUtil.getQueueOffset(parts));
        header.setConsumerGroup(group);
        header.setExtraInfo(handle);
        header.setBrokerName(ExtraInfoUtil.getBrokerName(parts));
        CompletableFuture<AckResult> answered = new CompletableFuture<>();
        client.getMQClientAPIImpl().ackMessageAsync(address, TIMEOUT_MS, new AckCallback() {
            @Override
            public void onSuccess(AckResult result) {
                answered.complete(result);
            }

            @Override
            public void onException(Throwable error) {
                answered.completeExceptionally(error);
            }
        }, header);
        return answered.get(TIMEOUT_MS, TimeUnit.MILLISECONDS).getStatus().name();
    }
}
