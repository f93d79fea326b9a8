import type { CallToolResult, McpServer, ServerContext, StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { Sandbox } from '@svc/sdk';
import { z } from 'zod';
import { describeExpected } from '../failure.ts';
import type { SandboxSession } from '../commands/sandbox/with-sandboxes.ts';

/** What all tools work with. */
export interface ToolContext {
  readonly session: Pick<SandboxSession, 'sandboxes' | 'find'>;
  /** Ids of sandboxes that were made here. */
  readonly made: Set<string>;
}

/** One call of a tool: the client may cancel it and may want to hear of its progress. */
export interface ToolCall {
  readonly signal: AbortSignal;
  /** Says how far it is; at most once in a second, and only to clients that asked. */
  progress(message: string): void;
}

interface ToolDefinition<Input> {
  name: string;
  title: string;
  description: string;
  input: StandardSchemaWithJSON<unknown, Input>;
  /** Changes nothing. */
  readOnly?: boolean;
  /** What it takes away cannot be brought back. */
  destructive?: boolean;
  run(input: Input, call: ToolCall): Promise<Readonly<Record<string, unknown>>>;
}

export const sandboxArgument = z.string().min(1).describe('Name or id of the sandbox');
export const pathArgument = z
  .string()
  .min(1)
  .max(4096)
  .describe('Absolute path in the sandbox, or one below the home folder');

const PROGRESS_EVERY_MS = 1_000;

/** Registers it so that what goes wrong is an answer that a caller can act upon, and no failure of the protocol. */
export function addTool<Input>(server: McpServer, tool: ToolDefinition<Input>): void {
  const { name, title, description, input, readOnly = false, destructive = false } = tool;
  const annotations = { title, readOnlyHint: readOnly, destructiveHint: destructive, openWorldHint: false };
  const run = async (given: Input, context: ServerContext): Promise<CallToolResult> => {
    try {
      return answerOf(await tool.run(given, callOf(context)));
    } catch (error) {
      context.mcpReq.signal.throwIfAborted();
      const message = describeExpected(error);
      if (message === null) throw error;
      return { content: [{ type: 'text', text: message }], isError: true };
    }
  };
  server.registerTool(name, { title, description, inputSchema: input, annotations }, run);
}

/** As text for readers, as an object for programs. */
function answerOf(value: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: { ...value } };
}

function callOf({ mcpReq }: ServerContext): ToolCall {
  const { _meta: meta } = mcpReq;
  const token = meta?.progressToken;
  let toldAtMs = -PROGRESS_EVERY_MS;
  let progress = 0;
  return {
    signal: mcpReq.signal,
    progress(message) {
      const nowMs = performance.now();
      if (token === undefined || nowMs - toldAtMs < PROGRESS_EVERY_MS) return;
      toldAtMs = nowMs;
      progress += 1;
      const params = { progressToken: token, progress, message };
      // A client that has gone is noticed by the transport.
      mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
    },
  };
}

/** What a caller needs to know of a sandbox; the whole of it is in `svc sandbox get`. */
export function describeSandbox({ info }: Sandbox): Readonly<Record<string, unknown>> {
  const { id, name, image, status, error, created_at: createdAt, expires_at: expiresAt } = info;
  return { id, name, image, status, created_at: createdAt, expires_at: expiresAt, ...(error !== null && { error }) };
}
