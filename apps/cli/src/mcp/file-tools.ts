import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { CommandFailure } from '../client/command-failure.ts';
import { addTool, pathArgument, sandboxArgument, type ToolContext } from './tool.ts';

const DEFAULT_READ_BYTES = 64 * 1024;
const MAX_READ_BYTES = 1024 * 1024;
const DEFAULT_LISTED = 200;
const MAX_LISTED = 2_000;

/** Tools for the contents of sandbox files. */
export function addFileTools(server: McpServer, context: ToolContext): void {
  addReadTools(server, context);
  addWriteTools(server, context);
}

function addReadTools(server: McpServer, { session: { find } }: ToolContext): void {
  addTool(server, {
    name: 'read_file',
    title: 'Read a file',
    description:
      'Read a file or part of it. Binary content is returned as base64. A note gives the offset for the next part.',
    input: z.object({
      sandbox: sandboxArgument,
      path: pathArgument,
      offset: z.number().int().min(0).optional().describe('Offset of the first byte; defaults to 0'),
      max_bytes: z.number().int().min(1).max(MAX_READ_BYTES).optional().describe(`${DEFAULT_READ_BYTES} by default`),
    }),
    readOnly: true,
    async run({ sandbox, path, offset = 0, max_bytes: most = DEFAULT_READ_BYTES }, { signal }) {
      const { files } = await find(sandbox);
      const { size } = await files.stat(path, { signal });
      const range = { start: offset, end: offset + most - 1 };
      // An empty file has no ranges, and nothing follows the end.
      const bytes =
        size > 0 && offset >= size
          ? new Uint8Array()
          : await files.readBytes(path, { signal, ...(size > 0 && { range }) });
      const piece = encodeContent(bytes, offset + bytes.length < size);
      const next = offset + piece.readBytes;
      return {
        path,
        size,
        encoding: piece.encoding,
        content: piece.content,
        ...(next < size && { truncated: true, note: `${size - next} more bytes; continue with offset ${next}.` }),
      };
    },
  });
  addTool(server, {
    name: 'list_files',
    title: 'List a folder',
    description: 'List a folder with names, sizes and types, folders first.',
    input: z.object({
      sandbox: sandboxArgument,
      path: pathArgument,
      limit: z.number().int().min(1).max(MAX_LISTED).optional().describe(`${DEFAULT_LISTED} by default`),
    }),
    readOnly: true,
    async run({ sandbox, path, limit = DEFAULT_LISTED }, { signal }) {
      const { files } = await find(sandbox);
      const entries: Record<string, unknown>[] = [];
      let more = false;
      for await (const { name, type, size, mode, mod_time: modifiedAt } of files.list(path, { signal })) {
        more = entries.length === limit;
        if (more) break;
        entries.push({ name, type, size, mode, modified_at: modifiedAt });
      }
      return { path, entries, ...(more && { truncated: true, note: `Only the first ${limit} are listed.` }) };
    },
  });
}

function addWriteTools(server: McpServer, { session: { find } }: ToolContext): void {
  addTool(server, {
    name: 'write_file',
    title: 'Write a file',
    description: 'Write a file atomically, creating missing folders. Replaces an existing file.',
    input: z.object({
      sandbox: sandboxArgument,
      path: pathArgument,
      content: z.string(),
      encoding: z.enum(['utf-8', 'base64']).optional().describe('Encoding of the content; defaults to utf-8'),
      append: z.boolean().optional().describe('Append to the file instead of replacing it'),
      mode: z
        .string()
        .regex(/^0?[0-7]{3,4}$/)
        .optional()
        .describe('Octal mode, such as 0755'),
    }),
    destructive: true,
    async run({ sandbox, path, content, encoding, append, mode }, { signal }) {
      const { files } = await find(sandbox);
      const bytes = encoding === 'base64' ? decodeBase64(content) : content;
      const { size, sha256, created } = await files.write(path, bytes, { append, mode, signal });
      return { path, size, sha256, created };
    },
  });
  addTool(server, {
    name: 'delete_file',
    title: 'Delete a file or folder',
    description: 'Delete a file, or a folder with its contents.',
    input: z.object({ sandbox: sandboxArgument, path: pathArgument }),
    destructive: true,
    async run({ sandbox, path }, { signal }) {
      await (await find(sandbox)).files.remove(path, { signal });
      return { path, deleted: true };
    },
  });
}

/** Leaves a truncated character at the end to the next range. */
function encodeContent(bytes: Uint8Array, isCut: boolean): { encoding: string; content: string; readBytes: number } {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const content = decoder.decode(bytes, { stream: isCut });
    const readBytes = Buffer.byteLength(content);
    const isText = !content.includes('\0') && (readBytes > 0 || bytes.length === 0);
    if (isText) return { encoding: 'utf-8', content, readBytes };
  } catch {
    // no text
  }
  return { encoding: 'base64', content: Buffer.from(bytes).toString('base64'), readBytes: bytes.length };
}

function decodeBase64(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') === text) return bytes;
  throw new CommandFailure('the content is not canonical base64', { hint: 'set encoding to utf-8 for text' });
}
