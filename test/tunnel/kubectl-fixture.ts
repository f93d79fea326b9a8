import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { temporaryFolder } from '@svc/testing';
import { binariesFolder, startKubernetes, type Kubernetes } from '../kubernetes/index.ts';
import { commandLineOf } from './forwarded-port.ts';
import { startTunnels, type TunnelFixture } from './tunnel-fixture.ts';

export interface ToolResult {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** A real cluster, the platform, the agent between them, and programs that use only the output of `svc kubeconfig`. */
export interface KubectlFixture extends AsyncDisposable {
  readonly kubernetes: Kubernetes;
  readonly tunnels: TunnelFixture;
  readonly folder: string;
  readonly kubectlProgram: string;
  /** Returns kubectl's stdout through the tunnel; rejects with its message. */
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** Starts a long-running program: kubectl itself, or another one that reads KUBECONFIG. */
  start(args: readonly string[], program?: string): ChildProcess;
  run(args: readonly string[], options?: { input?: string; program?: string }): Promise<ToolResult>;
}

export async function startKubectl(agentEnvironment: Record<string, string> = {}): Promise<KubectlFixture> {
  const kubernetes = await startKubernetes({ metrics: true });
  const folder = await temporaryFolder('svc-kubectl-');
  let tunnels: TunnelFixture;
  try {
    tunnels = await startTunnels({
      forwards: {},
      agentEnvironment: { KUBECONFIG: kubernetes.kubeconfig, ...agentEnvironment },
    });
  } catch (error) {
    await kubernetes.stop();
    throw error;
  }
  const kubeconfig = join(folder.path, 'kubeconfig');
  await commandLineOf(tunnels, folder.path).answer(['kubeconfig', 'production', '--out', kubeconfig]);
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder.path, KUBECONFIG: kubeconfig };
  const kubectl = join(binariesFolder(), 'kubectl');
  const start = (args: readonly string[], program = kubectl): ChildProcess =>
    spawn(program, [...args], { env, cwd: folder.path, stdio: ['pipe', 'pipe', 'pipe'] });
  const run: KubectlFixture['run'] = async (args, { input, program } = {}) => {
    const child = execFile(program ?? kubectl, [...args], { env, cwd: folder.path, maxBuffer: 256 * 1024 * 1024 });
    child.stdin?.on('error', () => undefined); // A program may end without reading its input; its exit code decides.
    child.stdin?.end(input ?? '');
    if (child.stdout === null || child.stderr === null) throw new Error('its outputs are pipes');
    const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
    const [exitCode, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    return { exitCode, stdout, stderr };
  };
  return {
    kubernetes,
    tunnels,
    folder: folder.path,
    kubectlProgram: kubectl,
    start,
    run,
    kubectl: async (args, input) => {
      const { exitCode, stdout, stderr } = await run(args, input === undefined ? {} : { input });
      if (exitCode === 0) return stdout;
      throw new Error(`kubectl ${args.join(' ')} ended with ${exitCode}:\n${stdout}\n${stderr}`);
    },
    [Symbol.asyncDispose]: async () => {
      await tunnels[Symbol.asyncDispose]();
      await kubernetes.stop();
      await folder.remove();
    },
  };
}
