package rocketproof.agent;

import static net.bytebuddy.matcher.ElementMatchers.isMethod;
import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.namedOneOf;
import static net.bytebuddy.matcher.ElementMatchers.nameStartsWith;
import static net.bytebuddy.matcher.ElementMatchers.not;

import java.lang.instrument.Instrumentation;
import java.util.Map;
import java.util.Set;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.implementation.bytecode.assign.Assigner;
import net.bytebuddy.utility.JavaModule;

/** Records what a name server's, a controller's or a broker's process does, beside its own code. */
public final class Agent {
    private Agent() {
    }

    /** Begin, before the process does. */
    public static void premain(String text, Instrumentation instrumentation) throws Exception {
        Hooks hooks = Hooks.begin(Options.parse(text));
        AgentBuilder builder = new AgentBuilder.Default()
            .disableClassFormatChanges()
            .ignore(not(nameStartsWith("org.apache.rocketmq.")))
            .with(new AgentBuilder.Listener.Adapter() {
                @Override
                public void onError(String type, ClassLoader loader, JavaModule module, boolean loaded, Throwable error) {
                    Hooks.failed(type, error);
                }
            });
        for (Map.Entry<String, Set<String>> watched : hooks.watched().entrySet()) {
            String[] methods = watched.getValue().toArray(new String[0]);
            builder = builder.type(named(watched.getKey())).transform((type, description, loader, module, domain) ->
                type.visit(Advice.to(Watched.class).on(isMethod().and(namedOneOf(methods)))));
        }
        builder.installOn(instrumentation);
    }

    /** What is put around a method; the code becomes a part of it. */
    public static final class Watched {
        private Watched() {
        }

        @Advice.OnMethodEnter(suppress = Throwable.class)
        public static void enter(
                @Advice.Origin("#t.#m") String method,
                @Advice.This(optional = true) Object self,
                @Advice.AllArguments Object[] arguments) {
            Hooks.entered(method, self, arguments);
        }

        @Advice.OnMethodExit(onThrowable = Throwable.class, suppress = Throwable.class)
        public static void exit(
                @Advice.Origin("#t.#m") String method,
                @Advice.This(optional = true) Object self,
                @Advice.AllArguments Object[] arguments,
                @Advice.Return(typing = Assigner.Typing.DYNAMIC) Object result,
                @Advice.Thrown Throwable thrown) {
            if (thrown == null) {
                Hooks.left(method, self, arguments, result);
            }
        }
    }
}
