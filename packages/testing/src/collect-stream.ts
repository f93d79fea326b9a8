/**
 * Reads a stream to its end. Throws above `limitBytes`, so that a runaway stream fails its test instead of the machine.
 */
export async function collectStream(
  stream: AsyncIterable<Uint8Array | string>,
  limitBytes = 64 * 1024 * 1024,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of stream) {
    const buffer = Buffer.from(chunk);
    sizeBytes += buffer.length;
    if (sizeBytes > limitBytes) throw new Error(`the stream is longer than ${limitBytes} bytes`);
    chunks.push(buffer);
  }
  return Buffer.concat(chunks);
}
