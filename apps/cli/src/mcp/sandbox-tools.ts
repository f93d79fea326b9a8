import type { McpServer } from '@modelcontextprotocol/server';
import type { Sandbox } from '@svc/sdk';
import { z } from 'zod';
import { CommandFailure } from '../client/command-failure.ts';
import { addTool, describeSandbox, sandboxArgument, type ToolCall, type ToolContext } from './tool.ts';

const MAX_LISTED = 100;
const POLL_EVERY_MS = 2_000;

const newSandbox = z.object({
  image: z.string().optional().describe('Of list_images, such as ubuntu, debian, node, python or busybox'),
  snapshot_id: z.string().optional().describe('In place of an image: with the files of a snapshot'),
  name: z.string().optional().describe('Letters, digits, - and _; one is made when absent'),
  environment: z.record(z.string(), z.string()).optional().describe('Variables of everything that runs in it'),
  network: z.enum(['egress', 'none']).optional().describe('egress: it reaches the public internet; none: nothing'),
  idle_timeout_seconds: z.number().int().min(10).optional().describe('Stopped when it was not used for so long'),
  max_lifetime_seconds: z.number().int().min(10).optional().describe('Deleted after so long'),
});

/** Tools for the lifecycle of sandboxes. */
export function addSandboxTools(server: McpServer, context: ToolContext): void {
  const { sandboxes, find } = context.session;
  addTool(server, {
    name: 'create_sandbox',
    title: 'Create a sandbox',
    description: 'Makes an isolated Linux machine and answers when it runs. Give an image, or a snapshot_id.',
    input: newSandbox,
    async run(request, call) {
      if ((request.image === undefined) === (request.snapshot_id === undefined)) {
        throw new CommandFailure('give either image or snapshot_id', { hint: 'list_images shows the images' });
      }
      const sandbox = await sandboxes.create(request, { waitMs: 0, signal: call.signal });
      context.made.add(sandbox.id);
      await untilRunning(sandbox, call);
      return describeSandbox(sandbox);
    },
  });
  addTool(server, {
    name: 'list_images',
    title: 'List images',
    description: 'What sandboxes can be made of. One that is not cached takes longer the first time.',
    input: z.object({ all: z.boolean().optional().describe('Also those that are seldom used') }),
    readOnly: true,
    async run({ all = false }, { signal }) {
      const images = await sandboxes.images({ all, signal });
      return {
        images: images.map(({ name, aliases, description, cached }) => ({ name, aliases, description, cached })),
      };
    },
  });
  addTool(server, {
    name: 'list_sandboxes',
    title: 'List sandboxes',
    description: `The newest ${MAX_LISTED} sandboxes of the workspace.`,
    input: z.object({ status: z.enum(['creating', 'running', 'stopped', 'error']).optional() }),
    readOnly: true,
    async run({ status }, { signal }) {
      const { items, limit, nextCursor } = await sandboxes.page({ status, pageSize: MAX_LISTED }, { signal });
      const listed = items.map(({ id, name, image, status: state, created_at: at }) => ({
        id,
        name,
        image,
        status: state,
        created_at: at,
      }));
      const note =
        nextCursor === null ? {} : { note: `There are more than ${MAX_LISTED}; only the newest are listed.` };
      return { sandboxes: listed, limit, ...note };
    },
  });
  addStateTools(server, context);
  addTool(server, {
    name: 'create_snapshot',
    title: 'Create a snapshot',
    description:
      'Keeps the files of a sandbox as they are now; create_sandbox with its snapshot_id makes others of it.',
    input: z.object({ sandbox: sandboxArgument, name: z.string().optional() }),
    async run({ sandbox, name }, { signal }) {
      return { ...(await (await find(sandbox)).snapshot({ signal, ...(name !== undefined && { name }) })) };
    },
  });
  addTool(server, {
    name: 'preview_url',
    title: 'Preview a port',
    description:
      'An address under which a port that something listens on in the sandbox is reached from a browser for a while.',
    input: z.object({
      sandbox: sandboxArgument,
      port: z.number().int().min(1).max(65_535),
      expires_in_seconds: z.number().int().min(1).optional().describe('3600 by default'),
    }),
    async run({ sandbox, port, expires_in_seconds: expiresInSeconds }, { signal }) {
      const options = { signal, ...(expiresInSeconds !== undefined && { expiresInSeconds }) };
      return { ...(await (await find(sandbox)).previewPort(port, options)) };
    },
  });
}

function addStateTools(server: McpServer, { session: { find }, made }: ToolContext): void {
  addTool(server, {
    name: 'start_sandbox',
    title: 'Start a sandbox',
    description: 'Starts a stopped sandbox, or one in error again. Its files are there, its processes are not.',
    input: z.object({ sandbox: sandboxArgument }),
    async run({ sandbox: name }, call) {
      const sandbox = await find(name);
      await sandbox.start({ signal: call.signal });
      await untilRunning(sandbox, call);
      return describeSandbox(sandbox);
    },
  });
  addTool(server, {
    name: 'stop_sandbox',
    title: 'Stop a sandbox',
    description: 'Ends everything that runs in it. Its files stay.',
    input: z.object({ sandbox: sandboxArgument }),
    async run({ sandbox: name }, { signal }) {
      const sandbox = await find(name);
      await sandbox.stop({ signal });
      return describeSandbox(sandbox);
    },
  });
  addTool(server, {
    name: 'delete_sandbox',
    title: 'Delete a sandbox',
    description: 'Deletes it with all of its files, for good.',
    input: z.object({ sandbox: sandboxArgument }),
    destructive: true,
    async run({ sandbox: name }, { signal }) {
      const sandbox = await find(name);
      await sandbox.delete({ signal });
      made.delete(sandbox.id);
      return { id: sandbox.id, deleted: true };
    },
  });
}

/** Reports progress, since downloading an image takes minutes. */
async function untilRunning(sandbox: Sandbox, { signal, progress }: ToolCall): Promise<void> {
  while (sandbox.status === 'creating') {
    const info = await sandbox.waitFor('running', { signal, timeoutMs: POLL_EVERY_MS });
    const { image_progress: image } = info;
    progress(image?.message ?? 'Starting the sandbox');
  }
  if (sandbox.status === 'running') return;
  const reason = sandbox.info.error?.message ?? sandbox.status;
  throw new CommandFailure(`the sandbox ${sandbox.id} could not be created: ${reason}`, {
    hint: 'start_sandbox tries again, delete_sandbox removes it',
  });
}
