package rocketproof.agent;

import java.util.Collection;
import java.util.ConcurrentModificationException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;

/**
 * What a master knows of its SyncStateSet, what it asks the controller for, and what it answers to producers.
 *
 * <p>Sets are read without their locks: whoever holds one of these may wait for the monitor of the records.
 */
final class SetSteps {
    private static final String SERVICE = "org.apache.rocketmq.store.ha.autoswitch.AutoSwitchHAService";
    private static final String MANAGER = "org.apache.rocketmq.broker.controller.ReplicasManager";
    private static final String SENDS = "org.apache.rocketmq.broker.processor.SendMessageProcessor";

    private final Records records;
    private final BrokerSteps broker;
    private Object manager;
    private Map<String, Object> local = set(new TreeSet<>(), 0);
    private Map<String, Object> pending;

    SetSteps(Records records, BrokerSteps broker) {
        this.records = records;
        this.broker = broker;
    }

    void register(Hooks hooks) {
        hooks.exit(MANAGER, "changeSyncStateSet", (self, arguments, result) -> learnt(self));
        hooks.exit(SERVICE, "markSynchronizingSyncStateSet", (self, arguments, result) ->
            proposed((Collection<?>) arguments[0]));
        hooks.enter(SERVICE, "markSynchronizingSyncStateSetDone", (self, arguments, result) -> pending = null);
        hooks.exit(SENDS, "handlePutMessageResult", (self, arguments, result) -> answered(arguments[0]));
    }

    private void learnt(Object self) throws Exception {
        manager = self;
        Map<String, Object> known = set(
            members((Collection<?>) Inside.field(self, "syncStateSet")), Inside.number(self, "syncStateSetEpoch"));
        if (!known.equals(local)) {
            local = known;
            broker.catchUp();
            records.step("LearnSyncStateSet").shows("local", local).shows("pending", pending).write();
        }
    }

    private void proposed(Collection<?> wanted) throws Exception {
        Map<String, Object> proposal = set(members(wanted), ((Number) local.get("epoch")).longValue());
        if (manager == null || proposal.equals(pending)) {
            return;
        }
        pending = proposal;
        TreeSet<Object> joining = new TreeSet<>(members(wanted));
        joining.removeAll((Collection<?>) local.get("members"));
        TreeSet<Object> leaving = new TreeSet<>((Collection<?>) local.get("members"));
        leaving.removeAll(members(wanted));
        broker.catchUp();
        Records.Step step = records.step(joining.isEmpty() ? "MaybeShrink" : "MaybeExpand");
        step.param("slaves", joining.isEmpty() ? leaving : joining).shows("local", local).shows("pending", pending)
            .write();
    }

    private void answered(Object result) throws Exception {
        Object appended = result == null ? null : Inside.call(result, "getAppendMessageResult");
        if (appended == null || !broker.isUnderControllers()) {
            return;
        }
        String status = String.valueOf(Inside.call(result, "getPutMessageStatus"));
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("is", "AnswerSend");
        answer.put("status", status);
        long offset = Inside.asked(appended, "getWroteOffset");
        long size = Inside.asked(appended, "getWroteBytes");
        answer.put("offset", offset);
        answer.put("size", size);
        broker.catchUp();
        Records.Step step = records.step("SendAnswered", "PUT_OK".equals(status) ? "Acknowledge" : null);
        step.param("offset", offset + size).answers(answer).write();
    }

    private static Map<String, Object> set(TreeSet<Object> members, long epoch) {
        Map<String, Object> set = new LinkedHashMap<>();
        set.put("members", members);
        set.put("epoch", epoch);
        return set;
    }

    private static TreeSet<Object> members(Collection<?> changing) {
        while (true) {
            try {
                return changing == null ? new TreeSet<>() : new TreeSet<>(changing);
            } catch (ConcurrentModificationException again) {
                Thread.onSpinWait();
            }
        }
    }
}
