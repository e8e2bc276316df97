import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import tlc2.value.impl.BoolValue;
import tlc2.value.impl.FcnRcdValue;
import tlc2.value.impl.IntValue;
import tlc2.value.impl.RecordValue;
import tlc2.value.impl.SetEnumValue;
import tlc2.value.impl.StringValue;
import tlc2.value.impl.TupleValue;
import tlc2.value.impl.Value;
import util.UniqueString;

/** Overrides Load of RpTraces.tla: reads a value, one token a line, in prefix order. */
public class RpTraces {
  private static Value loaded;

  public static synchronized Value Load(final Value file) throws Exception {
    if (loaded == null) {
      final String path = ((StringValue) file).getVal().toString();
      try (BufferedReader lines = Files.newBufferedReader(Paths.get(path), StandardCharsets.UTF_8)) {
        loaded = read(lines);
      }
    }
    return loaded;
  }

  private static Value read(final BufferedReader lines) throws Exception {
    final String line = lines.readLine();
    final String rest = line.substring(1);
    switch (line.charAt(0)) {
      case 'i':
        return IntValue.gen(Integer.parseInt(rest));
      case 's':
        return new StringValue(rest);
      case 'b':
        return rest.equals("1") ? BoolValue.ValTrue : BoolValue.ValFalse;
      case 't':
        return new TupleValue(readAll(lines, rest));
      case '{':
        return new SetEnumValue(readAll(lines, rest), false);
      case 'r':
        return readRecord(lines, Integer.parseInt(rest));
      case 'f':
        return readFunction(lines, Integer.parseInt(rest));
      default:
        throw new IllegalArgumentException(line);
    }
  }

  private static Value[] readAll(final BufferedReader lines, final String count) throws Exception {
    final Value[] values = new Value[Integer.parseInt(count)];
    for (int at = 0; at < values.length; at++) {
      values[at] = read(lines);
    }
    return values;
  }

  private static Value readRecord(final BufferedReader lines, final int count) throws Exception {
    final UniqueString[] names = new UniqueString[count];
    final Value[] values = new Value[count];
    for (int at = 0; at < count; at++) {
      names[at] = UniqueString.uniqueStringOf(lines.readLine());
      values[at] = read(lines);
    }
    return new RecordValue(names, values, false);
  }

  private static Value readFunction(final BufferedReader lines, final int count) throws Exception {
    final Value[] keys = new Value[count];
    final Value[] values = new Value[count];
    for (int at = 0; at < count; at++) {
      keys[at] = read(lines);
      values[at] = read(lines);
    }
    return new FcnRcdValue(keys, values, false);
  }
}
