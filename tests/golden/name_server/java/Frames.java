import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.rocketmq.common.MQVersion;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.TopicFilterType;
import org.apache.rocketmq.common.UtilAll;
import org.apache.rocketmq.common.namesrv.NamesrvConfig;
import org.apache.rocketmq.namesrv.NamesrvController;
import org.apache.rocketmq.namesrv.processor.ClientRequestProcessor;
import org.apache.rocketmq.namesrv.processor.DefaultRequestProcessor;
import org.apache.rocketmq.remoting.CommandCustomHeader;
import org.apache.rocketmq.remoting.RemotingClient;
import org.apache.rocketmq.remoting.netty.NettyServerConfig;
import org.apache.rocketmq.remoting.protocol.DataVersion;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.RequestCode;
import org.apache.rocketmq.remoting.protocol.SerializeType;
import org.apache.rocketmq.remoting.protocol.body.RegisterBrokerBody;
import org.apache.rocketmq.remoting.protocol.body.TopicConfigAndMappingSerializeWrapper;
import org.apache.rocketmq.remoting.protocol.header.GetBrokerMemberGroupRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.namesrv.BrokerHeartbeatRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.namesrv.GetRouteInfoRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.namesrv.QueryDataVersionRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.namesrv.RegisterBrokerRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.namesrv.UnRegisterBrokerRequestHeader;
import org.apache.rocketmq.remoting.protocol.statictopic.TopicQueueMappingInfo;

/**
 * Asks a name server that listens nowhere, and writes lines: a name, a tab, a frame in hexadecimal digits.
 * A name ends with ">" for a request, with "<" for its answer, with "!" for a notice.
 */
public class Frames {
    static final long T = 1700000000000L;
    static final Set<String> notices = new LinkedHashSet<>();
    static NamesrvController controller;
    static DefaultRequestProcessor processor;
    static ClientRequestProcessor clients;
    static EmbeddedChannel channel;

    static void out(String name, RemotingCommand command) {
        ByteBuffer frame = command.encode();
        StringBuilder hex = new StringBuilder();
        while (frame.hasRemaining()) hex.append(String.format("%02x", frame.get()));
        System.out.println(name + "\t" + hex);
    }

    static RemotingCommand request(int code, CommandCustomHeader header, byte[] body) {
        RemotingCommand request = RemotingCommand.createRequestCommand(code, header);
        request.setOpaque(7);
        request.setBody(body);
        return request;
    }

    /** Writes the request, has it answered as NettyRemotingAbstract does, and writes the answer. */
    static void ask(String name, RemotingCommand request) throws Exception {
        ByteBuffer frame = request.encode();
        out(name + ">", request);
        frame.getInt();
        RemotingCommand arrived = RemotingCommand.decode(frame);
        ChannelHandlerContext context = channel.pipeline().context("broker");
        RemotingCommand answer;
        try {
            answer = arrived.getCode() == RequestCode.GET_ROUTEINFO_BY_TOPIC
                ? clients.processRequest(context, arrived) : processor.processRequest(context, arrived);
        } catch (Exception e) {
            System.err.println(name + ": " + e);
            return;
        }
        answer.setOpaque(arrived.getOpaque());
        answer.markResponseType();
        answer.setSerializeTypeCurrentRPC(arrived.getSerializeTypeCurrentRPC());
        out(name + "<", answer);
    }

    static DataVersion version(long state, long counter, long time) {
        DataVersion version = new DataVersion();
        version.setStateVersion(state);
        version.getCounter().set(counter);
        version.setTimestamp(time);
        return version;
    }

    static TopicConfig topic(String name, int queues, int perm) {
        TopicConfig topic = new TopicConfig(name, queues, queues + 1, perm);
        topic.setAttributes(new HashMap<>());
        return topic;
    }

    static RegisterBrokerBody body(long state, TopicConfig... topics) {
        TopicConfigAndMappingSerializeWrapper wrapper = new TopicConfigAndMappingSerializeWrapper();
        wrapper.setDataVersion(version(state, 5, T));
        wrapper.setMappingDataVersion(version(0, 0, T + 1));
        for (TopicConfig topic : topics) wrapper.getTopicConfigTable().put(topic.getTopicName(), topic);
        RegisterBrokerBody body = new RegisterBrokerBody();
        body.setTopicConfigSerializeWrapper(wrapper);
        return body;
    }

    static RemotingCommand register(long id, String address, Boolean acting, RegisterBrokerBody body, boolean compressed) {
        RegisterBrokerRequestHeader header = new RegisterBrokerRequestHeader();
        header.setBrokerAddr(address);
        header.setBrokerId(id);
        header.setBrokerName("g");
        header.setClusterName("c");
        header.setHaServerAddr(address.replace("1091", "1092"));
        header.setEnableActingMaster(acting);
        header.setCompressed(compressed);
        header.setHeartbeatTimeoutMillis(acting == null ? null : 10000L);
        byte[] bytes = body.encode(compressed);
        header.setBodyCrc32(UtilAll.crc32(bytes));
        return request(RequestCode.REGISTER_BROKER, header, bytes);
    }

    static GetRouteInfoRequestHeader routeOf(String topic, Boolean standard) {
        GetRouteInfoRequestHeader header = new GetRouteInfoRequestHeader();
        header.setTopic(topic);
        header.setAcceptStandardJsonOnly(standard);
        return header;
    }

    static QueryDataVersionRequestHeader versionOf(long id, String address) {
        QueryDataVersionRequestHeader header = new QueryDataVersionRequestHeader();
        header.setBrokerName("g");
        header.setBrokerAddr(address);
        header.setClusterName("c");
        header.setBrokerId(id);
        return header;
    }

    static UnRegisterBrokerRequestHeader end(long id, String address) {
        UnRegisterBrokerRequestHeader header = new UnRegisterBrokerRequestHeader();
        header.setBrokerName("g");
        header.setBrokerAddr(address);
        header.setClusterName("c");
        header.setBrokerId(id);
        return header;
    }

    static GetBrokerMemberGroupRequestHeader membersOf(String name) {
        GetBrokerMemberGroupRequestHeader header = new GetBrokerMemberGroupRequestHeader();
        header.setClusterName("c");
        header.setBrokerName(name);
        return header;
    }

    static void told(String name) {
        for (String notice : notices) System.out.println(name + "!\t" + notice);
        notices.clear();
    }

    static void start() throws Exception {
        NamesrvConfig config = new NamesrvConfig();
        config.setNotifyMinBrokerIdChanged(true);
        config.setSupportActingMaster(true);
        config.setReturnOrderTopicConfigToBroker(true);
        config.setOrderMessageEnable(true);
        config.setNeedWaitForService(false);
        config.setKvConfigPath("kv.json");
        controller = new NamesrvController(config, new NettyServerConfig());
        Field client = NamesrvController.class.getDeclaredField("remotingClient");
        client.setAccessible(true);
        client.set(controller, Proxy.newProxyInstance(Frames.class.getClassLoader(), new Class<?>[] {RemotingClient.class}, (proxy, method, args) -> {
            if (method.getName().equals("invokeOneway")) {
                RemotingCommand notice = (RemotingCommand) args[1];
                notice.setOpaque(9);
                notice.markOnewayRPC();
                ByteBuffer frame = notice.encode();
                StringBuilder hex = new StringBuilder();
                while (frame.hasRemaining()) hex.append(String.format("%02x", frame.get()));
                notices.add(hex.toString());
            }
            return null;
        }));
        processor = new DefaultRequestProcessor(controller);
        clients = new ClientRequestProcessor(controller);
        channel = new EmbeddedChannel();
        channel.pipeline().addLast("broker", new ChannelInboundHandlerAdapter());
    }

    /** Each code point that a JSON writer may treat in its own way. */
    static String text() {
        StringBuilder text = new StringBuilder();
        for (int c = 0; c < 0x180; c++) text.append((char) c);
        for (int c = 0x2000; c < 0x2070; c++) text.append((char) c);
        for (int c : new int[] {0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xffff, 0x10000, 0x1f600, 0x10ffff}) text.appendCodePoint(c);
        return text.toString();
    }

    public static void main(String[] args) throws Exception {
        System.setProperty(RemotingCommand.REMOTING_VERSION_KEY, Integer.toString(MQVersion.CURRENT_VERSION));
        for (MQVersion.Version v : new MQVersion.Version[] {MQVersion.Version.V3_0_11, MQVersion.Version.V4_9_4, MQVersion.Version.V5_0_0})
            System.err.println(v + " " + v.ordinal());
        start();
        String a = "127.0.0.1:10911", b = "127.0.0.1:10912", d = "127.0.0.1:10913";
        TopicConfig t = topic("t", 4, 6);
        TopicConfig u = topic("u", 8, 7);
        u.setOrder(true);
        u.setTopicSysFlag(3);
        u.setTopicFilterType(TopicFilterType.MULTI_TAG);
        u.getAttributes().put("message.type", "FIFO");
        u.getAttributes().put("k", "a \"b\"/\u00fc");

        ask("first_with_one_topic", register(0, a, true, body(3, topic("t", 4, 6)), false));
        ask("empty_group", request(RequestCode.GET_BROKER_MEMBER_GROUP, membersOf("g"), null));
        controller.getKvConfigManager().putKVConfig("ORDER_TOPIC_CONFIG", "u", "g:8");
        ask("no_version", request(RequestCode.QUERY_DATA_VERSION, versionOf(0, a), version(3, 5, T).encode()));
        ask("slave", register(2, b, true, body(2, topic("t", 4, 6), topic("u", 8, 7)), false));
        ask("acting_slave_is_master", request(RequestCode.GET_ROUTEINFO_BY_TOPIC, routeOf("t", null), null));
        RegisterBrokerBody full = body(3, t, u, topic("topic-of-ours_%|", 1, 4));
        full.setFilterServerList(Arrays.asList("127.0.0.1:1", "h:2"));
        ask("master", register(0, a, true, full, false));
        told("master");
        ask("slave_again", register(2, b, true, body(2, t, u), false));
        ask("old_broker", register(1, d, null, body(0, t, u), false));
        RemotingCommand wrong = register(0, a, true, body(3, t, u), false);
        ((RegisterBrokerRequestHeader) wrong.readCustomHeader()).setBodyCrc32(1);
        ask("wrong_checksum", wrong);
        RemotingCommand unchecked = register(0, a, false, body(3, t, u), false);
        ((RegisterBrokerRequestHeader) unchecked.readCustomHeader()).setBodyCrc32(0);
        unchecked.addExtField("__ZONE_NAME", "z");
        ask("unchecked_of_a_zone", unchecked);
        ask("compressed", register(0, a, true, full, true));
        RegisterBrokerBody served = body(1, t, u);
        served.setFilterServerList(Collections.singletonList("h:3"));
        ask("slave_with_filter_servers", register(12, "a:1", true, served, true));
        ask("route_with_filter_servers", request(RequestCode.GET_ROUTEINFO_BY_TOPIC, routeOf("u", null), null));
        ask("loser", register(0, d, true, body(2, t, u), false));
        RegisterBrokerBody mapped = body(4, t, u);
        TopicQueueMappingInfo info = new TopicQueueMappingInfo("t", 4, "g", 9007199254740993L);
        for (int i = 0; i < 3; i++) info.getCurrIdMap().put(i, 2 - i);
        mapped.getTopicConfigSerializeWrapper().getTopicQueueMappingInfoMap().put("t", info);
        info = new TopicQueueMappingInfo("u", 1, "g", 9007199254740991L);
        mapped.getTopicConfigSerializeWrapper().getTopicQueueMappingInfoMap().put("u", info);
        ask("static_topic", register(0, a, true, mapped, false));
        ask("static_topic_compressed", register(0, a, true, mapped, true));
        ask("same_version", request(RequestCode.QUERY_DATA_VERSION, versionOf(0, a), version(4, 5, T).encode()));
        ask("other_version", request(RequestCode.QUERY_DATA_VERSION, versionOf(0, a), version(-1, Long.MAX_VALUE, Long.MIN_VALUE).encode()));
        ask("members", request(RequestCode.GET_BROKER_MEMBER_GROUP, membersOf("g"), null));
        ask("route", request(RequestCode.GET_ROUTEINFO_BY_TOPIC, routeOf("u", null), null));
        ask("route_of_a_static_topic_with_a_small_epoch", request(RequestCode.GET_ROUTEINFO_BY_TOPIC, routeOf("u", true), null));
        ask("route_of_a_static_topic", request(RequestCode.GET_ROUTEINFO_BY_TOPIC, routeOf("t", true), null));
        RemotingCommand old = request(RequestCode.GET_ROUTEINFO_BY_TOPIC, routeOf("t", false), null);
        old.setVersion(MQVersion.Version.V4_9_4.ordinal() - 1);
        ask("route_for_an_old_client", old);
        ask("no_route", request(RequestCode.GET_ROUTEINFO_BY_TOPIC, routeOf("v", null), null));
        BrokerHeartbeatRequestHeader beat = new BrokerHeartbeatRequestHeader();
        beat.setClusterName("c");
        beat.setBrokerAddr(a);
        beat.setBrokerName("g");
        ask("heartbeat", request(RequestCode.BROKER_HEARTBEAT, beat, null));
        ask("unregister", request(RequestCode.UNREGISTER_BROKER, end(0, a), null));
        controller.getRouteInfoManager().unRegisterBroker(Collections.singleton(end(0, a)));
        told("unregister");
        ask("acting_master", request(RequestCode.GET_ROUTEINFO_BY_TOPIC, routeOf("u", null), null));
        RemotingCommand binary = request(RequestCode.GET_BROKER_MEMBER_GROUP, membersOf("g"), null);
        binary.setSerializeTypeCurrentRPC(SerializeType.ROCKETMQ);
        ask("members_binary", binary);
        RemotingCommand bare = register(1, d, true, body(0), false);
        bare.setBody(null);
        ((RegisterBrokerRequestHeader) bare.readCustomHeader()).setBodyCrc32(0);
        ask("without_body", bare);
        ask("not_supported", request(99999, null, null));
        characters();
        System.exit(0);
    }

    /** Registers a group whose name has all characters, and asks for what is said of it. */
    static void characters() throws Exception {
        start();
        for (long id : new long[] {3, Long.MAX_VALUE}) {
            RemotingCommand register = register(id, "h:" + id, true, body(1, topic("t", Integer.MAX_VALUE - 1, 6), topic("u", 0, 0)), false);
            RegisterBrokerRequestHeader header = (RegisterBrokerRequestHeader) register.readCustomHeader();
            header.setBrokerName(text());
            ask("characters_" + id, register);
        }
        ask("characters_members", request(RequestCode.GET_BROKER_MEMBER_GROUP, membersOf(text()), null));
        ask("characters_route", request(RequestCode.GET_ROUTEINFO_BY_TOPIC, routeOf("t", null), null));
        RemotingCommand old = request(RequestCode.GET_ROUTEINFO_BY_TOPIC, routeOf("t", null), null);
        old.setVersion(0);
        ask("characters_route_for_an_old_client", old);
    }
}
