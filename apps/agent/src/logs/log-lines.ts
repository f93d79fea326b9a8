/** A line, or a piece of an overlong line. `time` is empty if the kubelet sent none. */
export interface LogLine {
  /** In the kubelet's format: RFC 3339 with nine digits. */
  time: string;
  /** Includes the line feed, if any. */
  text: string;
  /** False for the further parts of a long line. */
  begins: boolean;
}

const LINE_FEED = 0x0a;
const TIME = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})) /;

/**
 * Splits the output of `timestamps=true`. A line over the limit is yielded in parts, so that it is never held whole.
 */
export async function* readLogLines(stream: AsyncIterable<Buffer>, maxLineBytes: number): AsyncGenerator<LogLine> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let begins = true;
  const take = (last: Buffer): LogLine => {
    const text = (pendingBytes === 0 ? last : Buffer.concat([...pending, last])).toString('utf8');
    pending = [];
    pendingBytes = 0;
    return begins ? parseLine(text) : { time: '', text, begins: false };
  };
  for await (const chunk of stream) {
    let start = 0;
    while (start < chunk.length) {
      const feed = chunk.indexOf(LINE_FEED, start);
      const end = feed === -1 ? chunk.length : feed + 1;
      const part = chunk.subarray(start, Math.min(end, start + maxLineBytes));
      start += part.length;
      const whole = part[part.length - 1] === LINE_FEED;
      if (whole || pendingBytes + part.length >= maxLineBytes) {
        yield take(part);
        begins = whole;
      } else {
        pending.push(part);
        pendingBytes += part.length;
      }
    }
  }
  if (pendingBytes > 0) yield take(Buffer.alloc(0));
}

function parseLine(text: string): LogLine {
  const time = TIME.exec(text)?.[1] ?? '';
  return { time, text: time === '' ? text : text.slice(time.length + 1), begins: true };
}
