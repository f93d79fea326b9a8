/** Splits a byte stream at line feeds. Throws if a line exceeds the limit. */
export async function* readLines(stream: AsyncIterable<Buffer>, limitBytes: number): AsyncGenerator<string> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      const piece = chunk.subarray(start, end);
      yield pendingBytes === 0 ? piece.toString('utf8') : Buffer.concat([...pending, piece]).toString('utf8');
      pending = [];
      pendingBytes = 0;
      start = end + 1;
    }
    if (start < chunk.length) {
      pending.push(chunk.subarray(start));
      pendingBytes += chunk.length - start;
      if (pendingBytes > limitBytes) throw new Error(`a line is longer than ${limitBytes} bytes`);
    }
  }
  if (pendingBytes > 0) yield Buffer.concat(pending).toString('utf8');
}
