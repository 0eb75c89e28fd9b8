"""Deep Q-learning (a target network, replay memory, epsilon-greedy play) on a game of catch: a ball falls down a small
screen, and a paddle at the bottom has to be under it when it lands.

Run:     everflow run examples/dqn.py
Expect:  random play catches about a fifth of the balls; after 800 games greedy play catches all or nearly all.
"""

import collections
import random
import time

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("episodes", 800, "Games to learn from")
flags.DEFINE_integer("batch_size", 64, "Transitions in a batch")
FLAGS = flags.FLAGS

GAMMA = 0.9
INITIAL_EPSILON, FINAL_EPSILON = 1.0, 0.05
REPLAY_SIZE = 5000
TARGET_EVERY = 100


class Catch(object):
    """A ball falls down a screen of `height` rows; actions move the paddle left, keep it, or move it right."""

    actions = 3

    def __init__(self, rng, width=8, height=8):
        self.rng, self.width, self.height = rng, width, height

    def reset(self):
        self.row, self.column, self.paddle = 0, self.rng.randint(self.width), self.rng.randint(self.width)
        return self.screen()

    def screen(self):
        pixels = np.zeros([self.height, self.width], np.float32)
        pixels[self.row, self.column] = 1
        pixels[-1, self.paddle] += 0.5
        return pixels.ravel()

    def step(self, action):
        self.paddle = min(max(self.paddle + action - 1, 0), self.width - 1)
        self.row += 1
        done = self.row == self.height - 1
        reward = (1.0 if self.paddle == self.column else -1.0) if done else 0.0
        return self.screen(), reward, done


class DQN(object):
    def __init__(self, state_dim, action_dim):
        self.replay = collections.deque(maxlen=REPLAY_SIZE)
        self.steps = 0
        self.action_dim = action_dim
        self.state_input = tf.placeholder(tf.float32, [None, state_dim])
        self.action_input = tf.placeholder(tf.int32, [None])
        self.y_input = tf.placeholder(tf.float32, [None])
        self.Q_value = self.q_network("q", state_dim)
        self.target_Q_value = self.q_network("target", state_dim)
        Q_action = tf.reduce_sum(tf.multiply(self.Q_value, tf.one_hot(self.action_input, action_dim)), axis=1)
        self.cost = tf.losses.huber_loss(self.y_input, Q_action)
        self.optimizer = tf.train.RMSPropOptimizer(0.001).minimize(self.cost)
        params = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="q/")
        target = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="target/")
        self.update_target = [tf.assign(t, e) for t, e in zip(target, [v for v in params if "RMSProp" not in v.name])]
        self.session = tf.InteractiveSession()
        self.session.run(tf.global_variables_initializer())
        self.session.run(self.update_target)

    def q_network(self, name, state_dim):
        with tf.variable_scope(name):
            W1 = tf.get_variable("W1", [state_dim, 64], initializer=tf.truncated_normal_initializer(stddev=0.1))
            b1 = tf.get_variable("b1", [64], initializer=tf.constant_initializer(0.01))
            W2 = tf.get_variable("W2", [64, self.action_dim], initializer=tf.truncated_normal_initializer(stddev=0.1))
            b2 = tf.get_variable("b2", [self.action_dim], initializer=tf.constant_initializer(0.01))
            h_layer = tf.nn.relu(tf.matmul(self.state_input, W1) + b1)
            return tf.matmul(h_layer, W2) + b2

    def action(self, state):
        return np.argmax(self.Q_value.eval(feed_dict={self.state_input: [state]})[0])

    def egreedy_action(self, state, epsilon):
        return random.randrange(self.action_dim) if random.random() <= epsilon else self.action(state)

    def perceive(self, *transition):
        self.replay.append(transition)
        if len(self.replay) >= FLAGS.batch_size:
            self.train()

    def train(self):
        self.steps += 1
        states, actions, rewards, next_states, done = map(np.array, zip(*random.sample(self.replay, FLAGS.batch_size)))
        best = self.target_Q_value.eval(feed_dict={self.state_input: next_states}).max(axis=1)
        y = rewards + GAMMA * best * (1 - done)
        self.optimizer.run(feed_dict={self.y_input: y, self.action_input: actions, self.state_input: states})
        if self.steps % TARGET_EVERY == 0:
            self.session.run(self.update_target)


def play(env, choose, games=100):
    caught = 0
    for _ in range(games):
        state, done = env.reset(), False
        while not done:
            state, reward, done = env.step(choose(state))
        caught += reward > 0
    return caught / float(games)


def main(_):
    random.seed(10)
    tf.set_random_seed(10)
    env = Catch(np.random.RandomState(10))
    agent = DQN(env.width * env.height, env.actions)
    print("random play catches %.2f" % play(env, lambda state: random.randrange(env.actions)))
    start = time.time()
    for episode in range(1, FLAGS.episodes + 1):
        epsilon = max(FINAL_EPSILON, INITIAL_EPSILON * (1 - 1.5 * episode / FLAGS.episodes))
        state, done = env.reset(), False
        while not done:
            action = agent.egreedy_action(state, epsilon)
            next_state, reward, done = env.step(action)
            agent.perceive(state, action, reward, next_state, float(done))
            state = next_state
        if episode % 100 == 0:
            print(
                "episode: %d  epsilon: %.2f  catches: %.2f  %.1f s"
                % (episode, epsilon, play(env, agent.action), time.time() - start)
            )
    print("greedy play catches %.2f" % play(env, agent.action, 200))


if __name__ == "__main__":
    tf.app.run()
