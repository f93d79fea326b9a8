import { join } from 'node:path';
import type { Certificates } from './certificates.ts';
import type { Daemon } from './daemon.ts';

export type StartDaemon = (name: string, program: string, args: readonly string[]) => Daemon;

export interface ApiServerPlan {
  folder: string;
  binaries: string;
  certificates: Certificates;
  /** Listen address of the API server. */
  address: string;
  port: number;
  etcdPort: number;
  etcdPeerPort: number;
  /** Address that pods use; absent without pods. */
  advertiseAddress?: string;
}

export const SERVICE_RANGE = '10.96.0.0/16';
export const SERVICE_ADDRESS = '10.96.0.1';

export function startEtcd(start: StartDaemon, plan: ApiServerPlan): Daemon {
  const client = `http://127.0.0.1:${plan.etcdPort}`;
  const peer = `http://127.0.0.1:${plan.etcdPeerPort}`;
  return start('etcd', 'etcd', [
    '--name=test',
    `--data-dir=${join(plan.folder, 'etcd')}`,
    '--unsafe-no-fsync',
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=test=${peer}`,
  ]);
}

export function startApiServer(start: StartDaemon, plan: ApiServerPlan): Daemon {
  const { certificates } = plan;
  const advertise =
    plan.advertiseAddress === undefined
      ? ['--endpoint-reconciler-type=none']
      : [`--advertise-address=${plan.advertiseAddress}`];
  return start('kube-apiserver', join(plan.binaries, 'kube-apiserver'), [
    `--etcd-servers=http://127.0.0.1:${plan.etcdPort}`,
    `--bind-address=${plan.address}`,
    `--secure-port=${plan.port}`,
    ...advertise,
    `--tls-cert-file=${certificates.apiServer.certificate}`,
    `--tls-private-key-file=${certificates.apiServer.key}`,
    `--client-ca-file=${certificates.authority.certificate}`,
    `--cert-dir=${certificates.folder}`,
    `--kubelet-client-certificate=${certificates.kubeletClient.certificate}`,
    `--kubelet-client-key=${certificates.kubeletClient.key}`,
    '--kubelet-preferred-address-types=InternalIP',
    `--service-account-key-file=${certificates.serviceAccountKey}`,
    `--service-account-signing-key-file=${certificates.serviceAccountKey}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged=true',
    `--requestheader-client-ca-file=${certificates.authority.certificate}`,
    '--enable-aggregator-routing=true',
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${certificates.frontProxy.certificate}`,
    `--proxy-client-key-file=${certificates.frontProxy.key}`,
  ]);
}

export function startControllers(start: StartDaemon, plan: ApiServerPlan, kubeconfig: string): Daemon[] {
  const manager = start('kube-controller-manager', join(plan.binaries, 'kube-controller-manager'), [
    `--kubeconfig=${kubeconfig}`,
    `--service-account-private-key-file=${plan.certificates.serviceAccountKey}`,
    `--root-ca-file=${plan.certificates.authority.certificate}`,
    '--use-service-account-credentials=true',
    '--leader-elect=false',
    '--secure-port=0',
  ]);
  const scheduler = start('kube-scheduler', join(plan.binaries, 'kube-scheduler'), [
    `--kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    '--secure-port=0',
  ]);
  return [manager, scheduler];
}
