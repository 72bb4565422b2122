import type { MailSettings, SmtpSettings, Workflow } from '#core/workflow.ts';
import type { RawMail, RawWorkflow } from '../raw.ts';
import { asList } from '../raw.ts';

/** The mail server; null without one. */
export function smtpOf({ smtp }: RawWorkflow): SmtpSettings | null {
  if (smtp?.host === undefined) return null;
  return { host: smtp.host, port: smtp.port ?? '25', username: smtp.username ?? null, password: smtp.password ?? null };
}

/** `waitMail`, as a part of the workflow. */
export function waitMailOf(raw: RawWorkflow['waitMail']): Pick<Workflow, 'waitMail'> {
  const waitMail = mailOf(raw);
  return waitMail === null ? {} : { waitMail };
}

/** Sender and recipients; null if the file does not name them. */
export function mailOf(mail: RawMail | undefined): MailSettings | null {
  if (mail === undefined) return null;
  const to = asList(mail.to).flatMap((text) => text.split(','));
  return {
    from: mail.from ?? '',
    to: to.map((address) => address.trim()).filter((address) => address !== ''),
    prefix: mail.prefix ?? '',
    attachLogs: mail.attachLogs ?? false,
  };
}
