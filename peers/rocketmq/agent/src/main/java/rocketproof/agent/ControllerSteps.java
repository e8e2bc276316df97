package rocketproof.agent;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.Collection;

/** What a controller applies of the log that its group agreed on. */
final class ControllerSteps {
    private static final String MANAGER = "org.apache.rocketmq.controller.impl.manager.ReplicasInfoManager";
    private static final String STARTUP = "org.apache.rocketmq.controller.ControllerManager";

    private static final long SUCCESS = 0;

    private final Options options;
    private final Records records;

    ControllerSteps(Options options, Records records) {
        this.options = options;
        this.records = records;
    }

    void register(Hooks hooks) {
        hooks.enter(STARTUP, "initialize", (self, arguments, result) -> started());
        hooks.exit(MANAGER, "registerBroker", (self, arguments, result) -> registered(self, arguments[0], result));
        hooks.exit(MANAGER, "handleElectMaster", (self, arguments, result) -> elected(self, arguments[0]));
        hooks.exit(MANAGER, "handleAlterSyncStateSet", (self, arguments, result) -> altered(self, arguments[0]));
    }

    private void started() throws Exception {
        records.step("NodeStarted", null).shows("master", null).shows("epoch", 0).write();
    }

    /** A broker has started and says so; what it is answered is its role, or that there is no master. */
    private void registered(Object manager, Object request, Object result) throws Exception {
        if (Inside.asked(result, "getResponseCode") != SUCCESS) {
            return;
        }
        String group = (String) Inside.call(request, "getBrokerName");
        Object answer = Inside.call(result, "getResponse");
        Object master = Inside.call(answer, "getMasterBrokerId");
        records.step("BrokerRegistered", null)
            .param("broker", name(manager, group, Inside.call(request, "getBrokerId")))
            .param("master", master == null ? null : name(manager, group, master))
            .param("master_epoch", Inside.call(answer, "getMasterEpoch")).write();
    }

    private void elected(Object manager, Object event) throws Exception {
        String group = (String) Inside.call(event, "getBrokerName");
        boolean isElected = (Boolean) Inside.call(event, "getNewMasterElected");
        Object id = isElected ? Inside.call(event, "getNewMasterBrokerId") : null;
        Records.Step step = records.step("ElectMaster").param("master", id == null ? null : name(manager, group, id));
        showGroup(step, manager, group).write();
    }

    private void altered(Object manager, Object event) throws Exception {
        showGroup(records.step("AlterSyncStateSet"), manager, (String) Inside.call(event, "getBrokerName")).write();
    }

    private Records.Step showGroup(Records.Step step, Object manager, String group) throws Exception {
        Object info = ((Map<?, ?>) Inside.field(manager, "syncStateSetInfoTable")).get(group);
        Object master = Inside.call(info, "getMasterBrokerId");
        Map<String, Object> set = new LinkedHashMap<>();
        TreeSet<String> members = new TreeSet<>();
        for (Object id : (Collection<?>) Inside.call(info, "getSyncStateSet")) {
            members.add(name(manager, group, id));
        }
        set.put("members", members);
        set.put("epoch", Inside.call(info, "getSyncStateSetEpoch"));
        return step
            .always("master", master == null ? null : name(manager, group, master))
            .always("epoch", Inside.call(info, "getMasterEpoch"))
            .always("sync_state_set", set);
    }

    private String name(Object manager, String group, Object id) throws Exception {
        Object replicas = ((Map<?, ?>) Inside.field(manager, "replicaInfoTable")).get(group);
        Object address = ((Map<?, ?>) Inside.call(replicas, "getBrokerIdTable")).get(id);
        String name = options.names.get(String.valueOf(address));
        if (name == null) {
            throw new IllegalStateException("no node is known at " + address + ", broker " + id);
        }
        return name;
    }
}
