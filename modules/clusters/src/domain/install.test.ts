import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { installCommands, type InstallOptions } from './install.ts';

const OPTIONS: InstallOptions = {
  clusterName: 'production',
  clusterId: 'cls-0123456789ab',
  token: 'svc_agt_token',
  apiUrl: 'https://platform.example',
  namespace: 'svc-system',
  chart: 'deploy/helm/svc-agent',
  manifest: 'deploy/kubernetes/svc-agent.yaml',
  image: null,
  imported: null,
};

/** Runs a command in a shell and returns its parsing: one line per word that Helm or kubectl receives. */
function expandCommand(command: string): string[] {
  const shell = `helm() { printf '%s\\n' helm "$@"; }\nkubectl() { printf '%s\\n' kubectl "$@"; cat >/dev/null; }\n${command}`;
  return execFileSync('sh', ['-c', shell], { encoding: 'utf8', input: '' }).trim().split('\n');
}

describe('installCommands', () => {
  it('passes every value to Helm as a string, and never includes the token', () => {
    const apiUrl = "https://platform.example/a,b'c$(id)";
    const words = expandCommand(
      installCommands({ ...OPTIONS, clusterName: '2026', apiUrl, chart: '/a folder/svc-agent' }).helm,
    );
    expect(words.slice(words.indexOf('helm'))).toEqual([
      'helm',
      'upgrade',
      '--install',
      'svc-agent',
      '/a folder/svc-agent',
      '--namespace',
      'svc-system',
      '--set-string',
      'agent.clusterName=2026',
      '--set-string',
      'agent.clusterId=cls-0123456789ab',
      '--set-string',
      String.raw`svc.apiUrl=https://platform.example/a\,b'c$(id)`,
      '--set-string',
      'svc.existingSecret=svc-agent-config',
    ]);
    expect(words.join(' ')).not.toContain('svc_agt_');
  });

  it("passes the configured image, split into the chart's values", () => {
    const digest = `sha256:${'0'.repeat(64)}`;
    const image = { repository: 'registry.example:5000/svc-agent', tag: '', digest };
    const words = expandCommand(installCommands({ ...OPTIONS, image }).helm);
    expect(words).toContain('image.repository=registry.example:5000/svc-agent');
    expect(words).toContain(`image.digest=${digest}`);
    expect(words.filter((word) => word.startsWith('image.tag'))).toEqual([]);
  });

  it("replaces the namespace of the service account in the manifest's binding", () => {
    expect(expandCommand(installCommands(OPTIONS).kubectl)).not.toContain('set');
    const words = expandCommand(installCommands({ ...OPTIONS, namespace: 'agents' }).kubectl);
    expect(words.slice(words.indexOf('set'))).toEqual([
      'set',
      'subject',
      'clusterrolebinding',
      'svc-agent',
      '--serviceaccount=agents:svc-agent',
    ]);
  });
});
