import { homedir, hostname } from 'node:os';
import { join } from 'node:path';

/** What the commands that talk to a platform read from the environment. */
export interface ClientEnvironment {
  url: string | undefined;
  token: string | undefined;
  workspace: string | undefined;
  team: string | undefined;
  profile: string | undefined;
  /** The names that every client of the sandbox API reads; `SVC_URL` and `SVC_TOKEN` win. */
  sandbox: { url: string | undefined; token: string | undefined };
  /** Of a key of one's own for the S3 plane; otherwise one is made with the token. */
  s3: { accessKeyId: string | undefined; secretAccessKey: string | undefined; endpoint: string | undefined };
  /** Profiles and keys, for the user's eyes only. */
  configFolder: string;
  /** What is needed to go on with interrupted transfers. */
  stateFolder: string;
  hostname: string;
  home: string;
  /** Where other programs keep their settings. */
  settingsFiles: { awsConfig: string; awsCredentials: string; rclone: string; s3cmd: string };
}

export function readClientEnvironment(): ClientEnvironment {
  const environment = process.env;
  const given = (name: string): string | undefined => (environment[name] === '' ? undefined : environment[name]);
  const home = given('HOME') ?? homedir();
  const configHome = given('XDG_CONFIG_HOME') ?? join(home, '.config');
  return {
    url: given('SVC_URL'),
    token: given('SVC_TOKEN'),
    workspace: given('SVC_WORKSPACE'),
    team: given('SVC_TEAM'),
    profile: given('SVC_PROFILE'),
    sandbox: { url: given('SANDBOX_URL'), token: given('SANDBOX_TOKEN') },
    s3: {
      accessKeyId: given('SVC_S3_ACCESS_KEY_ID'),
      secretAccessKey: given('SVC_S3_SECRET_ACCESS_KEY'),
      endpoint: given('SVC_S3_ENDPOINT'),
    },
    configFolder: join(configHome, 'svc'),
    stateFolder: join(given('XDG_STATE_HOME') ?? join(home, '.local', 'state'), 'svc'),
    hostname: hostname(),
    home,
    settingsFiles: {
      awsConfig: given('AWS_CONFIG_FILE') ?? join(home, '.aws', 'config'),
      awsCredentials: given('AWS_SHARED_CREDENTIALS_FILE') ?? join(home, '.aws', 'credentials'),
      rclone: given('RCLONE_CONFIG') ?? join(configHome, 'rclone', 'rclone.conf'),
      s3cmd: given('S3CMD_CONFIG') ?? join(home, '.s3cfg'),
    },
  };
}
