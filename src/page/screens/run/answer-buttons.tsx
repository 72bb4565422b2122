import { isOffline } from '../../data/connection.ts';

/** The id of the form that answers an approval. */
export const ANSWER_FORM = 'answer';

/** The buttons that answer an approval, inside of its form or outside. */
export function AnswerButtons({ isPending }: { isPending: boolean }) {
  const isOff = isPending || isOffline.value;
  return (
    <>
      <button type="submit" form={ANSWER_FORM} class="main" disabled={isOff}>
        {isPending ? 'Sending' : 'Approve'}
      </button>
      <button type="submit" form={ANSWER_FORM} value="reject" class="danger" disabled={isOff}>
        Reject
      </button>
    </>
  );
}
