package rocketproof.client;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.client.producer.TransactionSendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.sysflag.MessageSysFlag;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.RequestCode;
import org.apache.rocketmq.remoting.protocol.header.EndTransactionRequestHeader;

/**
 * A producer of half messages. Each is left open when it is sent; brokers that check back hear what was
 * decided of it, and until then that it is not known. Every check is written down.
 */
final class Transactions implements TransactionListener {
    private static final int TIMEOUT_MS = 3000;

    private final TransactionMQProducer producer = new TransactionMQProducer("rocketproof-halves");
    private final Map<String, LocalTransactionState> decided = new ConcurrentHashMap<>();
    private final Map<String, MessageExt> asked = new ConcurrentHashMap<>();
    private final List<Map<String, Object>> checks = new ArrayList<>();

    Transactions(String nameServer) throws Exception {
        producer.setNamesrvAddr(nameServer);
        producer.setInstanceName("halves");
        producer.setPollNameServerInterval(500);
        producer.setHeartbeatBrokerInterval(1000);
        producer.setVipChannelEnabled(false);
        producer.setTransactionListener(this);
        producer.start();
    }

    @Override
    public LocalTransactionState executeLocalTransaction(Message message, Object nothing) {
        return LocalTransactionState.UNKNOW;
    }

    @Override
    public LocalTransactionState checkLocalTransaction(MessageExt message) {
        String body = new String(message.getBody(), StandardCharsets.UTF_8);
        String id = body.substring(0, Math.max(body.indexOf(';'), 0));
        asked.put(id, message);
        LocalTransactionState state = decided.getOrDefault(id, LocalTransactionState.UNKNOW);
        Map<String, Object> check = new LinkedHashMap<>();
        check.put("id", id);
        check.put("at_ns", System.nanoTime());
        check.put("store_host", String.valueOf(message.getStoreHost()));
        check.put("answer", state.name());
        synchronized (checks) {
            checks.add(check);
        }
        return state;
    }

    /** Sends a half message, and leaves it open. */
    void send(Message message, String id, Map<String, Object> answer) throws Exception {
        TransactionSendResult result = producer.sendMessageInTransaction(message, null);
        answer.put("id", id);
        answer.put("status", result.getSendStatus().name());
        answer.put("queue_offset", result.getQueueOffset());
        answer.put("broker", result.getMessageQueue().getBrokerName());
    }

    /** From now on a check is answered so. */
    void decide(String id, String state) {
        decided.put(id, LocalTransactionState.valueOf(state));
    }

    /** Asks a broker to commit a half message for which it was asked, and waits for the answer, as producers do not. */
    void commit(String id, String address, Map<String, Object> answer) throws Exception {
        MessageExt half = asked.get(id);
        if (half == null) {
            throw new IllegalArgumentException("nobody has asked for " + id);
        }
        EndTransactionRequestHeader header = new EndTransactionRequestHeader();
        header.setTopic(half.getTopic());
        header.setProducerGroup(producer.getProducerGroup());
        header.setTranStateTableOffset(half.getQueueOffset());
        header.setCommitLogOffset(half.getCommitLogOffset());
        header.setCommitOrRollback(MessageSysFlag.TRANSACTION_COMMIT_TYPE);
        header.setMsgId(half.getMsgId());
        header.setTransactionId(half.getTransactionId());
        RemotingCommand request = RemotingCommand.createRequestCommand(RequestCode.END_TRANSACTION, header);
        RemotingCommand response = producer.getDefaultMQProducerImpl().getMqClientFactory()
            .getMQClientAPIImpl().getRemotingClient().invokeSync(address, request, TIMEOUT_MS);
        answer.put("code", response.getCode());
        answer.put("status", String.valueOf(response.getRemark()));
    }

    /** Gives all checks that came. */
    List<Map<String, Object>> checks() {
        synchronized (checks) {
            return new ArrayList<>(checks);
        }
    }
}
