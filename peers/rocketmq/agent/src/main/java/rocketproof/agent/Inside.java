package rocketproof.agent;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Reads private fields of RocketMQ's objects, and calls methods without arguments. */
final class Inside {
    private static final Map<String, Field> FIELDS = new ConcurrentHashMap<>();
    private static final Map<String, Method> METHODS = new ConcurrentHashMap<>();

    private Inside() {
    }

    static Object field(Object of, String name) throws ReflectiveOperationException {
        String key = of.getClass().getName() + '#' + name;
        Field found = FIELDS.get(key);
        if (found == null) {
            found = find(of.getClass(), name);
            found.setAccessible(true);
            FIELDS.put(key, found);
        }
        return found.get(of);
    }

    private static Field find(Class<?> type, String name) throws NoSuchFieldException {
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            try {
                return at.getDeclaredField(name);
            } catch (NoSuchFieldException inherited) {
                // perhaps its superclass has it
            }
        }
        throw new NoSuchFieldException(type.getName() + '.' + name);
    }

    static Object call(Object of, String name) throws ReflectiveOperationException {
        String key = of.getClass().getName() + '#' + name;
        Method found = METHODS.get(key);
        if (found == null) {
            found = of.getClass().getMethod(name);
            found.setAccessible(true);
            METHODS.put(key, found);
        }
        return found.invoke(of);
    }

    static long number(Object of, String field) throws ReflectiveOperationException {
        return ((Number) field(of, field)).longValue();
    }

    static long asked(Object of, String method) throws ReflectiveOperationException {
        return ((Number) call(of, method)).longValue();
    }
}
